import { once } from 'node:events';
import type { Clock } from '../context.ts';
import { RateLimitedError } from '../errors.ts';
import { type Governor, OvertakenError, type Permit, type SeenRateLimit } from './governor.ts';
import { isSameBoot, serviceTime } from './key-state.ts';
import type { Ledger } from './ledger.ts';
import { recordOf, seenIn } from './observation.ts';
import { decide, type Verdict } from './rules.ts';

export interface GovernorOptions {
  readonly clock: Clock;
  readonly ledger: Ledger;
  /** Under which name the limits are remembered. */
  readonly env: string;
  /** The longest total wait for the rate limit, in milliseconds. */
  readonly maxWait: number;
  /** How long a request may take, in milliseconds: from then on its process is taken for dead. */
  readonly lease: number;
  /** Leaves a small part of the limit to people. */
  readonly bulk?: boolean;
  /** A name for this process that no other has. */
  readonly unique: string;
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
/** Where others use the key too, they all come when a window ends: we come up to this much later. */
const spread = 1000;

/** Admits requests one at a time, in the order in which they came, by the rules and the ledger. */
export function createGovernor(options: GovernorOptions): Governor {
  const { clock, ledger, unique, random, bulk = false } = options;
  let line: Promise<unknown> = Promise.resolve();
  let sent = 0;
  let waited = 0;
  let lastSeen: SeenRateLimit | undefined;
  let wake: () => void = () => {};
  const own = new Set<string>();

  const admit = (signal: AbortSignal): Promise<Permit> => {
    const turn = line.then(() => admitNext(signal));
    line = turn.catch(() => {});
    return turn;
  };

  const admitNext = async (signal: AbortSignal): Promise<Permit> => {
    let announced = false;
    let pause = poll.first;
    for (;;) {
      signal.throwIfAborted();
      const verdict = look();
      const id = verdict.go ? claim() : undefined;
      if (id !== undefined) return permit(id);
      // Another process was first: what the rules say now is another thing.
      if (verdict.go) continue;
      if (verdict.until === undefined) {
        await somethingIsOver(pause, signal);
        pause = Math.min(pause * 2, poll.longest);
      } else {
        await waitUntil(verdict.until, announced, signal);
        announced = true;
      }
    }
  };

  /** @throws RateLimitedError where that is longer than the command may wait, or has been in vain too often */
  const waitUntil = async (until: number, announced: boolean, signal: AbortSignal): Promise<void> => {
    const at = clock.monotonic();
    const wait = until - at + (ledger.state.foreignRate > 0 ? random() * spread : 0);
    if (ledger.state.episodes >= maxEpisodes || waited + wait > options.maxWait) {
      const retryAfterSeconds = Math.ceil(wait / 1000);
      throw new RateLimitedError('nothing may be sent now', { retryAfterSeconds });
    }
    if (!announced) options.onWait(wait);
    // Whole milliseconds, so that a rest too small to be told from nothing can't be waited for again and again.
    await clock.sleep(Math.ceil(Math.min(Math.max(wait, 1), longestSlice)), signal);
    waited += clock.monotonic() - at;
  };

  /** What the rules say now, of what everybody has written. */
  const look = (): Verdict => {
    ledger.refresh();
    const { state } = ledger;
    if (!isSameBoot(state.boot, clock.boot())) {
      ledger.commit({ type: 'start', boot: clock.boot(), env: options.env, at: clock.monotonic(), wall: clock.now() });
    }
    if (ledger.alone && own.size > 0) return { go: false, until: undefined };
    return decide(ledger.state, clock.monotonic(), bulk);
  };

  /** Takes a place, unless the ledger shows that another process was first. */
  const claim = (): string | undefined => {
    sent += 1;
    const id = `${unique}-${sent}`;
    const at = clock.monotonic();
    ledger.commit({ type: 'intent', id, at, expires: at + options.lease, bulk });
    if (!ledger.state.inFlight.has(id)) return undefined;
    own.add(id);
    return id;
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
      ledger.refresh();
      const { inFlight, gate } = ledger.state;
      const at = clock.monotonic();
      const request = inFlight.get(id);
      if (request === undefined || at >= request.expires || at < gate.at) throw new OvertakenError();
    },
    answered: (answer) => {
      const [at, wall] = [clock.monotonic(), clock.now()];
      ledger.commit(recordOf(id, answer, { at, wall, serviceTime: serviceTime(ledger.state, at) }, random));
      lastSeen = seenIn(answer, wall) ?? lastSeen;
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
      return lastSeen;
    },
  };
}
