import { filtered, hasTexts, type Texts } from '../../../inventory/filter.ts';
import { counted, enumerated, isLow, type LowLevels } from '../../../inventory/items.ts';
import { type Difference, StockList } from '../../../inventory/stock-list.ts';
import type { WatchReading } from '../../../output/difference-view.ts';
import { formatDuration } from '../../../output/time.ts';
import { Pace } from '../../../rate-limit/pace.ts';
import { decide } from '../../../rate-limit/rules.ts';
import type { Deadline } from '../../../shared/clock.ts';
import { AuthError, FailureError, PetstockError, serviceQuotes } from '../../../shared/errors.ts';
import { targetName } from '../../../shared/hint.ts';
import { sentence } from '../../../shared/parsed.ts';
import type { Invocation } from '../../invocation/invocation.ts';

export interface WatchOptions {
  /** Milliseconds from one check to the next. */
  readonly interval: number;
  /** How long to watch, in milliseconds; undefined for no end. */
  readonly duration: number | undefined;
  readonly first: boolean;
  readonly now: boolean;
  readonly low: boolean;
  readonly petIds: ReadonlySet<bigint> | undefined;
  readonly texts: Texts | undefined;
  /** Aborted by an interruption, and once no reader is left. */
  readonly ended: AbortSignal;
}

/** Returns, for example, `1.5 s`; from one minute on, the text of `formatDuration`. */
function secondsText(ms: number): string {
  return ms < 60_000 ? `${Math.ceil(ms / 100) / 10} s` : formatDuration(ms / 1000);
}

/** A check that takes longer than this many milliseconds was probably delayed by the rate limit. */
const maxPollMs = 1000;
/** Node's timers take at most 24 days, in milliseconds. */
const longestSleep = 86_400_000;

/**
 * Checks the stock repeatedly, and yields the changes. Among the service's errors, only a 401 ends the watch. Keeps at
 * most two lists in memory.
 * @throws AuthError after a 401, and the reason of an interruption
 */
export async function* watchChanges(invocation: Invocation, options: WatchOptions): AsyncGenerator<WatchReading> {
  const watch = new Watch(invocation, options);
  const isWanted = createChangeFilter(options, (await invocation.remarks('person')).low);
  for (;;) {
    const isPresent = !watch.hasBegun;
    const batches = await watch.poll();
    const at = invocation.context.clock.now();
    let found = false;
    for (const batch of batches) {
      const changes = batch.filter(isWanted);
      if (changes.length === 0) continue;
      found ||= !isPresent;
      yield { at, changes, isPresent, longestId: watch.longestId };
    }
    if ((options.first && found) || !(await watch.pause())) return;
  }
}

function createChangeFilter({ texts, low: onlyLow }: WatchOptions, low: LowLevels): (change: Difference) => boolean {
  return ({ petId, left, right }) => {
    if (onlyLow) {
      if (right === undefined || !isLow({ ...right, petId }, low)) return false;
      const wasLow = left !== undefined && isLow({ ...left, petId }, low);
      if (wasLow && right.quantity >= left.quantity) return false;
    }
    return texts === undefined || [left, right].some((side) => side !== undefined && hasTexts(side, texts));
  };
}

class Watch {
  readonly #pace: Pace;
  readonly #end: number;
  /** The stock at the last successful check. */
  #before = StockList.empty;
  longestId = 0n;
  #successfulChecks = 0;
  #checkedAt = 0;
  #faultSince: number | undefined;
  /**
   * The time before which no check begins, by the monotonic clock. With `--max-wait`, the limits might refuse to wait
   * until then.
   */
  #notBefore = 0;
  readonly #said = new Set<string>();

  constructor(
    private readonly invocation: Invocation,
    private readonly options: WatchOptions,
  ) {
    this.#pace = new Pace(options.interval);
    this.#end = invocation.context.clock.monotonic() + (options.duration ?? Number.POSITIVE_INFINITY);
  }

  get hasBegun(): boolean {
    return this.#successfulChecks > 0;
  }

  /**
   * Returns the changes since the last successful check. The first time, returns the current stock with `--now`,
   * otherwise nothing.
   */
  async poll(): Promise<Iterable<readonly Difference[]>> {
    const { clock } = this.invocation.context;
    this.#checkedAt = clock.monotonic();
    this.#pace.recordPoll();
    const found = await this.#tryRead();
    const now = clock.monotonic();
    // If a check was delayed by the rate limit, the next interval begins when the check has ended.
    if (now - this.#checkedAt > maxPollMs && now < this.#end) this.#checkedAt = now;
    if (found === undefined) return [];
    this.#successfulChecks += 1;
    const before = this.#before;
    this.#before = found;
    if (this.#successfulChecks > 1) return StockList.differences(before, found);
    await this.#begin(found);
    return this.options.now ? StockList.differences(before, found) : [];
  }

  async #begin(list: StockList): Promise<void> {
    const { messages, target } = this.invocation;
    const { petIds = [], interval } = this.options;
    this.longestId = list.longestId;
    const present = new Set(this.options.petIds && list.items.map(({ petId }) => petId));
    const missing = [...petIds].filter((petId) => !present.has(petId));
    if (missing.length > 0) {
      await messages.warn(`These pets are not in the list yet: ${enumerated(missing)}`);
    }
    const what = `${counted(list.size, 'pet')} of ${targetName(target)}`;
    await messages.note(`Watching ${what}, every ${secondsText(interval)}. Ctrl-C ends it.`);
  }

  /**
   * Reads the list once.
   * @returns undefined after an error, or if the time is over
   */
  async #tryRead(): Promise<StockList | undefined> {
    const { messages, context } = this.invocation;
    const { clock } = context;
    const { ended } = this.options;
    const controller = new AbortController();
    const abort = () => controller.abort(ended.reason);
    ended.addEventListener('abort', abort);
    // A pending check is aborted when the time is over, except the last check, because it begins only then.
    const left = this.#end - this.#checkedAt;
    let deadline: Deadline | undefined;
    if (left > 0 && Number.isFinite(left)) deadline = clock.deadline(left, () => controller.abort(new Error('over')));
    try {
      const found = await this.#read(controller.signal);
      this.#pace.answered();
      const since = this.#faultSince;
      this.#faultSince = undefined;
      if (since !== undefined) {
        await messages.note(`The service responds again, after ${formatDuration((clock.monotonic() - since) / 1000)}.`);
      }
      return found;
    } catch (error) {
      ended.throwIfAborted();
      if (controller.signal.aborted) return undefined;
      if (!(error instanceof PetstockError) || (error instanceof AuthError && error.status === 401)) throw error;
      await this.#fault(error);
      return undefined;
    } finally {
      deadline?.clear();
      ended.removeEventListener('abort', abort);
    }
  }

  async #read(signal: AbortSignal): Promise<StockList> {
    const { petIds } = this.options;
    const { client } = await this.invocation.connections.connect();
    const batches = client.scanInventory({ once: true, signal });
    const list = await StockList.gather(filtered(batches, [{ petIds }]));
    const repeated = list.repeated();
    if (repeated !== undefined) {
      throw new FailureError(`The response to GET /inventory is not valid: pet ${repeated} appears twice`);
    }
    return list;
  }

  async #fault(error: PetstockError): Promise<void> {
    const { context, messages } = this.invocation;
    const now = context.clock.monotonic();
    const wait = (error.retryAfterSeconds ?? 0) * 1000;
    this.#notBefore = now + wait;
    if (error.status === 429) {
      this.#pace.refused();
      await this.#noteSlower(Math.max(wait, this.#pace.interval), 'the service returned 429');
      return;
    }
    if (this.#faultSince !== undefined) return;
    this.#faultSince = now;
    await messages.warn(
      `${sentence(error.message)} petstock keeps trying; changes are not reported until the service responds`,
      ...serviceQuotes(error),
    );
  }

  /**
   * Waits for the next check.
   * @returns false if the time is over and no check is left
   */
  async pause(): Promise<boolean> {
    const { context, messages } = this.invocation;
    const { clock } = context;
    if (this.#checkedAt >= this.#end) return false;
    const { windows } = (await this.#limits()).state;
    const shortest = this.#pace.least({ minute: windows.minute?.limit, day: windows.day?.limit }, clock.monotonic());
    const wanted = this.#pace.interval;
    if (shortest > wanted) await this.#noteSlower(shortest, 'checks may use at most a tenth of the rate limit');
    // If the rate limit opens in time, the client waits for it and shows that.
    const opens = await this.#opensAt();
    const soonest = Math.max(this.#checkedAt + shortest, this.#notBefore, opens > this.#end ? opens : 0);
    if (this.#successfulChecks <= 1 && soonest > this.#end && this.#isNew('short')) {
      const wait = secondsText(soonest - this.#checkedAt);
      await messages.warn(
        `--for leaves no time to find a change: the next check can't come sooner than ${wait} after the last one`,
      );
    }
    await this.#sleepUntil(Math.min(this.#end, Math.max(soonest, this.#checkedAt + wanted)));
    // One more check at the end finds the changes since the last one, if the limits allow it.
    return clock.monotonic() < this.#end || Math.max(soonest, await this.#opensAt()) <= this.#end;
  }

  async #limits() {
    return (await this.invocation.connections.connect()).limits;
  }

  /**
   * Returns when the rate limit allows the next check, by the monotonic clock; 0 if it allows one now, or if that is
   * not known.
   */
  async #opensAt(): Promise<number> {
    const { state, now } = await this.#limits();
    const decision = decide(state, now, { bulk: true, minPermits: 1 });
    const opensAt = decision.admitted ? undefined : decision.retryAt;
    return opensAt === undefined ? 0 : this.invocation.context.clock.monotonic() + opensAt - now;
  }

  async #sleepUntil(until: number): Promise<void> {
    const { clock } = this.invocation.context;
    for (let left = until - clock.monotonic(); left > 0; left = until - clock.monotonic()) {
      await clock.sleep(Math.min(left, longestSleep), this.options.ended);
    }
  }

  /**
   * Notes, once for each reason, that the interval is longer than requested.
   * @param interval in milliseconds
   */
  async #noteSlower(interval: number, why: string): Promise<void> {
    if (!this.#isNew(why)) return;
    await this.invocation.messages.note(`Checking at most every ${secondsText(interval)}: ${why}.`);
  }

  #isNew(what: string): boolean {
    const isNew = !this.#said.has(what);
    this.#said.add(what);
    return isNew;
  }
}
