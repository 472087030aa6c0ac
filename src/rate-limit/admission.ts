import { once } from 'node:events';
import type { Clock } from '../shared/clock.ts';
import { RateLimitedError } from '../shared/errors.ts';
import { type Governor, type ObservedAnswer, OvertakenError, type Permit } from './governor.ts';
import { isSameBoot, serviceTime } from './key-state.ts';
import type { Ledger } from './ledger.ts';
import { recordOf, seenIn } from './observation.ts';
import type { LedgerRecord } from './records.ts';
import { decide, type Verdict } from './rules.ts';

export interface GovernorOptions {
  readonly clock: Clock;
  readonly ledger: Ledger;
  /** Under which name the limits are remembered, where nobody has used the key since the machine started. */
  readonly env: string;
  /** The longest wait for the rate limit, in milliseconds. */
  readonly maxWait: number;
  /**
   * Whether that is for all requests together (the default); for each, as a program that runs for weeks wants it; or for
   * one wait, so that a bulk run goes on through as many windows as it needs, if none of them is longer.
   */
  readonly maxWaitFor?: 'all' | 'each' | 'wait';
  /** How long a request may take, in milliseconds: from then on its process is taken for dead. */
  readonly lease: number;
  /** Leaves a small part of the limit to people. */
  readonly bulk?: boolean;
  /** A name for this process that no other has. Where it begins with its number and a dot, others can see that it died. */
  readonly unique: string;
  /** Whether a process of this number runs; without it, one that died is noticed when its lease is over. */
  isAlive?(pid: number): boolean;
  random(): number;
  /** Told before each wait, with its length in milliseconds. */
  onWait(ms: number): void;
}

/** After this many 429s in a row, of all processes and those of one burst counted once, nobody waits any longer. */
const maxEpisodes = 3;
/** A sleep is cut into slices: a clock may be stepped, and another process may learn something. */
const longestSlice = 15_000;
/** How often to look whether another process has had the answer that we wait for, in milliseconds. */
const poll = { first: 5, longest: 250 };
/** How long the request of another process may keep us waiting before that is said, and counted as a wait. */
const patience = 1000;
/** How long what was read of the ledger is good enough to try by, in milliseconds. */
const freshness = 20;
/** Where others use the key too, they all come when a window ends: we come up to this much later. */
const spread = 1000;

/** Admits requests one at a time, in the order in which they came, by the rules and the ledger. */
export function createGovernor(options: GovernorOptions): Governor {
  const { clock, ledger, unique, random, bulk = false } = options;
  let line: Promise<unknown> = Promise.resolve();
  let sent = 0;
  let waited = 0;
  let announced = false;
  let readAt = Number.NEGATIVE_INFINITY;
  /** The last answer that told its limits. */
  let lastTold: { readonly answer: ObservedAnswer; readonly wall: number } | undefined;
  let wake: () => void = () => {};
  const own = new Set<string>();

  const admit = (signal: AbortSignal): Promise<Permit> => {
    const turn = line.then(() => admitNext(signal));
    line = turn.catch(() => {});
    return turn;
  };

  const admitNext = async (signal: AbortSignal): Promise<Permit> => {
    const began = clock.monotonic();
    let pause = poll.first;
    announced = false;
    if (options.maxWaitFor === 'each') waited = 0;
    for (;;) {
      signal.throwIfAborted();
      const verdict = look();
      const id = verdict.go ? claim() : undefined;
      if (id !== undefined) return permit(id);
      // Another process was first, or one is found dead: what the rules say now is another thing.
      if (verdict.go || buriedTheDead()) continue;
      if (verdict.until !== undefined) await waitUntil(verdict.until, longestSlice, signal);
      else await waitForOthers(began, pause, signal);
      pause = verdict.until === undefined ? Math.min(pause * 2, poll.longest) : poll.first;
    }
  };

  const waitForOthers = async (began: number, pause: number, signal: AbortSignal): Promise<void> => {
    const until = heldUpUntil(began);
    await (until === undefined ? somethingIsOver(pause, signal) : waitUntil(until, poll.longest, signal));
  };

  /** @throws RateLimitedError where that is longer than the command may wait, or has been in vain too often */
  const waitUntil = async (until: number, slice: number, signal: AbortSignal): Promise<void> => {
    const at = clock.monotonic();
    const wait = until - at + (ledger.state.foreignRate > 0 ? random() * spread : 0);
    const total = options.maxWaitFor === 'wait' ? wait : waited + wait;
    if (ledger.state.episodes >= maxEpisodes || total > options.maxWait) {
      const retryAfterSeconds = Math.ceil(wait / 1000);
      throw new RateLimitedError('nothing may be sent now', { retryAfterSeconds });
    }
    if (!announced) options.onWait(wait);
    announced = true;
    // Whole milliseconds, so that a rest too small to be told from nothing can't be waited for again and again.
    await clock.sleep(Math.ceil(Math.min(Math.max(wait, 1), slice)), signal);
    waited += clock.monotonic() - at;
  };

  /** Writes a record, and with that has read what everybody has written. */
  const commit = (record: LedgerRecord): void => {
    ledger.commit(record);
    readAt = clock.monotonic();
  };

  /**
   * What the rules say now, of what everybody has written. In a busy process that was read a moment ago; should it be out of
   * date, the claim that follows tells.
   */
  const look = (): Verdict => {
    if (clock.monotonic() - readAt > freshness) ledger.refresh();
    const verdict = judge();
    if (verdict.go) return verdict;
    ledger.refresh();
    return judge();
  };

  const judge = (): Verdict => {
    const { state } = ledger;
    if (!isSameBoot(state.boot, clock.boot())) {
      commit({ type: 'start', boot: clock.boot(), env: options.env, at: clock.monotonic(), wall: clock.now() });
    }
    if (ledger.alone && own.size > 0) return { go: false, until: undefined };
    return decide(ledger.state, clock.monotonic(), bulk);
  };

  /** Takes a place, unless the ledger shows that another process was first. */
  const claim = (): string | undefined => {
    sent += 1;
    const id = `${unique}-${sent}`;
    const at = clock.monotonic();
    commit({ type: 'intent', id, at, expires: at + options.lease, bulk });
    if (!ledger.state.inFlight.has(id)) return undefined;
    own.add(id);
    return id;
  };

  /** When others keep us waiting for longer than is worth no word: the end of the last of their leases. */
  const heldUpUntil = (began: number): number | undefined => {
    const at = clock.monotonic();
    if (own.size > 0 || at - began < patience) return undefined;
    const leases = [...ledger.state.inFlight.values()].map(({ expires }) => expires).filter((expires) => expires > at);
    return leases.length === 0 ? undefined : Math.max(...leases);
  };

  /** A process that died has its request in flight until its lease is over, unless somebody sees that it is gone. */
  const buriedTheDead = (): boolean => {
    let buried = false;
    for (const id of [...ledger.state.inFlight.keys()]) {
      const pid = Number(/^(\d+)\./.exec(id)?.[1]);
      if (own.has(id) || !(pid > 0) || options.isAlive?.(pid) !== false) continue;
      ledger.commit({ type: 'lost', id, at: clock.monotonic() });
      buried = true;
    }
    return buried;
  };

  /** Resolves when one of our own requests is over, or, where others have some in flight, after the pause at the latest. */
  const somethingIsOver = async (pause: number, signal: AbortSignal): Promise<void> => {
    const ended = new AbortController();
    const end = () => ended.abort();
    wake = end;
    signal.addEventListener('abort', end, { once: true });
    const others = [...ledger.state.inFlight.keys()].some((id) => !own.has(id));
    await (others ? clock.sleep(pause, ended.signal).catch(() => {}) : once(ended.signal, 'abort'));
    signal.removeEventListener('abort', end);
  };

  const permit = (id: string): Permit => ({
    leave: () => {
      ledger.glance();
      const { inFlight, gate } = ledger.state;
      const at = clock.monotonic();
      const request = inFlight.get(id);
      if (request === undefined || at >= request.expires || at < gate.at) throw new OvertakenError();
    },
    answered: (answer) => {
      const [at, wall] = [clock.monotonic(), clock.now()];
      const record = recordOf(id, answer, { at, wall, serviceTime: serviceTime(ledger.state, at) }, random);
      commit(record);
      if (record.limit !== undefined) lastTold = { answer, wall };
      over(id);
    },
    lost: () => {
      ledger.commit({ type: 'lost', id, at: clock.monotonic() });
      over(id);
    },
    unsent: () => {
      ledger.commit({ type: 'unsent', id });
      over(id);
    },
  });

  const over = (id: string): void => {
    own.delete(id);
    wake();
  };

  return {
    admit,
    get lastSeen() {
      return lastTold && seenIn(lastTold.answer, lastTold.wall);
    },
  };
}
