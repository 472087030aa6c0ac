import { KnownStock, type Look } from '../../../inventory/known-stock.ts';
import { type Difference, StockList } from '../../../inventory/stock-list.ts';
import { withoutWords } from '../../../output/error-text.ts';
import { formatDuration } from '../../../output/time.ts';
import type { SeenFacts } from '../../../output/watch-view.ts';
import { Pace, type PaceLimits } from '../../../rate-limit/pace.ts';
import type { Clock } from '../../../shared/clock.ts';
import { AuthError, PetstockError } from '../../../shared/errors.ts';
import { sentence } from '../../../shared/parsed.ts';
import type { Messages } from '../../invocation/messages.ts';

export interface WatchOptions {
  readonly clock: Clock;
  readonly interrupted: AbortSignal;
  /** From one look to the next, in milliseconds. */
  readonly interval: number;
  /** When it ends, in milliseconds from now; undefined: never. */
  readonly duration: number | undefined;
  readonly first: boolean;
  readonly now: boolean;
  look(signal: AbortSignal): Promise<Look>;
  limits(): PaceLimits;
  /** When the rate limit lets the next look leave, by the monotonic clock, as far as that is known; 0: now. */
  opensAt(): number;
  counts(change: Difference): boolean;
  onBegin(list: StockList): Promise<void>;
  readonly messages: Pick<Messages, 'note' | 'warn'>;
}

/** `1.5 s`; from a minute on in minutes. */
export function secondsText(ms: number): string {
  return ms < 60_000 ? `${Math.ceil(ms / 100) / 10} s` : formatDuration(ms / 1000);
}

/** In milliseconds: one that takes longer was delayed by the limit or a retry. */
const longestLook = 1000;
/** In milliseconds: the longest sleep at once, so that a machine that was suspended is noticed. */
const longestSleep = 5000;

/**
 * Looks at the stock again and again, and yields what has changed. Holds two lists at most. Nothing but a 401 ends it, whatever the
 * service answers.
 * @throws AuthError after a 401, and the reason of `interrupted`
 */
export async function* watchChanges(options: WatchOptions): AsyncGenerator<SeenFacts> {
  const watch = new Watch(options);
  for (;;) {
    const { clock, first } = options;
    const at = clock.now();
    let found = false;
    const isPresent = !watch.hasBegun;
    for (const batch of await watch.look()) {
      const changes = batch.filter((change) => options.counts(change));
      if (changes.length === 0) continue;
      found ||= !isPresent;
      yield { at, changes, isPresent };
    }
    if ((first && found) || !(await watch.pause())) return;
  }
}

class Watch {
  readonly #pace: Pace;
  readonly #end: number;
  readonly #known = new KnownStock();
  #before: StockList | undefined;
  /** No two looks have been compared yet. */
  #isFirst = true;
  #lookedAt = 0;
  #faultSince: number | undefined;
  /** No look before that, by the monotonic clock. */
  #notBefore = 0;
  readonly #said = new Set<string>();

  constructor(private readonly options: WatchOptions) {
    this.#pace = new Pace(options.interval);
    this.#end = options.clock.monotonic() + (options.duration ?? Number.POSITIVE_INFINITY);
  }

  get hasBegun(): boolean {
    return this.#before !== undefined;
  }

  /** Returns what has changed since the last look that was answered; at first, what is there if that is wanted. */
  async look(): Promise<Iterable<readonly Difference[]>> {
    const { clock, onBegin, now: showsPresent } = this.options;
    this.#lookedAt = clock.monotonic();
    this.#pace.looked();
    const found = await this.#read();
    const now = clock.monotonic();
    // A look that waited for the rate limit left late: the next one counts from there.
    if (now - this.#lookedAt > longestLook && now < this.#end) this.#lookedAt = now;
    if (found === undefined) return [];
    const before = this.#before;
    this.#before = found.list;
    this.#isFirst = before === undefined;
    if (before !== undefined) return this.#known.changes(before, found);
    this.#known.begin(found);
    await onBegin(found.list);
    return showsPresent ? StockList.differences(StockList.empty, found.list) : [];
  }

  /** @returns undefined after a fault */
  async #read(): Promise<Look | undefined> {
    const { clock, interrupted, messages } = this.options;
    const ending = this.#ending();
    try {
      const list = await this.options.look(ending.signal);
      this.#pace.answered();
      const since = this.#faultSince;
      this.#faultSince = undefined;
      if (since !== undefined) {
        await messages.note(`The service answers again, after ${formatDuration((clock.monotonic() - since) / 1000)}.`);
      }
      return list;
    } catch (error) {
      interrupted.throwIfAborted();
      if (ending.signal.aborted) return undefined;
      if (!(error instanceof PetstockError) || (error instanceof AuthError && error.status === 401)) throw error;
      await this.#fault(error);
      return undefined;
    } finally {
      ending.clear();
    }
  }

  /** Ends a look that is still on its way when the time is over, except for the last one, which begins then. */
  #ending(): { readonly signal: AbortSignal; clear(): void } {
    const { clock, interrupted } = this.options;
    const controller = new AbortController();
    const abort = () => controller.abort(interrupted.reason);
    const left = this.#end - this.#lookedAt;
    const deadline =
      left > 0 && Number.isFinite(left) ? clock.deadline(left, () => controller.abort(new Error('over'))) : undefined;
    interrupted.addEventListener('abort', abort);
    return {
      signal: controller.signal,
      clear: () => {
        deadline?.clear();
        interrupted.removeEventListener('abort', abort);
      },
    };
  }

  async #fault(error: PetstockError): Promise<void> {
    const { clock, messages } = this.options;
    const wait = (error.retryAfterSeconds ?? 0) * 1000;
    this.#notBefore = clock.monotonic() + wait;
    if (error.status === 429) {
      this.#pace.refused();
      await this.#noteSlower(Math.max(wait, this.#pace.interval), 'the service answered 429');
      return;
    }
    if (this.#faultSince !== undefined) return;
    this.#faultSince = clock.monotonic();
    const { own, words } = withoutWords(error);
    await messages.warn(`${sentence(own)} No changes are seen until it answers; petstock keeps looking`, words[0]);
  }

  /** Until the next look. @returns whether there is one */
  async pause(): Promise<boolean> {
    const { clock, limits, messages, opensAt } = this.options;
    if (this.#lookedAt >= this.#end) return false;
    const least = this.#pace.least(limits(), clock.monotonic());
    const wanted = this.#pace.interval;
    if (least > wanted) await this.#noteSlower(least, 'more would be over a tenth of the rate limit');
    // A wait that ends in time is the governor's, which shows it.
    const opens = opensAt();
    const soonest = Math.max(this.#lookedAt + least, this.#notBefore, opens > this.#end ? opens : 0);
    if (this.#isFirst && soonest > this.#end && this.#isNew('short')) {
      const wait = secondsText(soonest - this.#lookedAt);
      await messages.warn(
        `no change can be seen: --for ends before the next look, which can't leave sooner than ${wait} after the last`,
      );
    }
    await this.#sleepUntil(Math.min(this.#end, Math.max(soonest, this.#lookedAt + wanted)), soonest);
    // What changed since the last look is worth one more at the end, if the limits allow it.
    return clock.monotonic() < this.#end || Math.max(soonest, opensAt()) <= this.#end;
  }

  /** Sleeps, but no longer than to `soonest` once the wall clock shows that the machine was suspended meanwhile. */
  async #sleepUntil(until: number, soonest: number): Promise<void> {
    const { clock, interrupted } = this.options;
    let [monotonic, wall] = [clock.monotonic(), clock.now()];
    let suspended = 0;
    for (;;) {
      const left = until - monotonic;
      const isDue = monotonic >= soonest && suspended >= left && suspended > longestSleep;
      if (left <= 0 || isDue) return;
      await clock.sleep(Math.min(left, longestSleep), interrupted);
      const [nowMonotonic, nowWall] = [clock.monotonic(), clock.now()];
      suspended += Math.max(0, nowWall - wall - (nowMonotonic - monotonic));
      [monotonic, wall] = [nowMonotonic, nowWall];
    }
  }

  /** Says once for each reason that looks are farther apart than was asked for. @param interval in milliseconds */
  async #noteSlower(interval: number, why: string): Promise<void> {
    if (!this.#isNew(why)) return;
    await this.options.messages.note(`Looking every ${secondsText(interval)} at most: ${why}.`);
  }

  #isNew(what: string): boolean {
    const isNew = !this.#said.has(what);
    this.#said.add(what);
    return isNew;
  }
}
