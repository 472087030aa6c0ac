import { type Permit, PermitExpiredError, releaseAll, releaseAndRethrow } from '../rate-limit/permits.ts';
import type { Grant } from '../state/intents-and-outcomes.ts';
import { GroupSize } from './group-size.ts';
import type { OutcomeTracker } from './outcome-tracker.ts';
import { dependsOnStock, type QueuedRow, requireReread, rereadRequired, type WriteOptions } from './row-write.ts';

/** A row with a permit, a lease, and its intent on disk. */
interface PreparedRow {
  readonly queued: QueuedRow;
  readonly permit: Permit;
  /**
   * The latest time to send the row, by the monotonic clock, so that its request is over by the time stated in its
   * intent, and the stock of a delta is recent.
   */
  readonly sendBy: number;
}

/**
 * A row whose pet another command is changing. `until`: when the pet is free at the latest; undefined while that
 * command is running.
 */
export interface BusyRow {
  readonly queued: QueuedRow;
  readonly run: string | undefined;
  readonly until: number | undefined;
}

/**
 * How long a prepared row may wait before it is sent, in milliseconds; the time in its intent allows for that. `alone`
 * applies if no row has to wait for another row, `inGroup` otherwise.
 */
const maxHold = { alone: 1000, inGroup: 5000 };
/** Maximum age of the stock, in milliseconds, when the permit for a delta is requested. */
const maxAge = 1000;
/** Maximum wait for the permit of a delta, in milliseconds; after a longer wait the stock is read again. */
const maxWaitOfDelta = 100;
/**
 * Maximum age of a stock in milliseconds when its delta is sent, unless the group of the delta was begun less than
 * `maxHold.alone` ago.
 */
const maxAgeWhenSent = 2000;

/**
 * Sends each row of a queue at most once, several at a time. Rows are admitted, leased and logged in groups right
 * before they are sent. One transaction and one disk sync serve a whole group, and no pet is locked while waiting for
 * the rate limit.
 */
export class Dispatcher {
  readonly #options: WriteOptions;
  readonly #outcomes: OutcomeTracker;
  /** The rows that are not prepared yet, in order. */
  readonly #queue: QueuedRow[];
  /**
   * Whether more rows were queued, at first or after the last read, than may be in flight at once, so that prepared
   * rows have to wait.
   */
  #isGroup: boolean;
  #reserved: Permit | undefined;
  readonly #groupSize: GroupSize;
  /** Whether no permit of the last admission was left after reading the stock. */
  #spentPermitOnRead = false;
  /** Whether the next admission must read the stock: it was too old, but the only permit was used to send a row. */
  #isStale = false;
  #prepared: PreparedRow[] = [];
  #preparing: Promise<void> | undefined;
  /** Why no more rows can be prepared. Rows that are already prepared are still sent. */
  #prepareFailure: { readonly cause: unknown } | undefined;
  /** Rows that were taken from the queue and certainly not carried out. */
  readonly toResend: QueuedRow[] = [];
  readonly busy: BusyRow[] = [];
  /** Rows with a delta whose stock another run has written since it was read, or may have. */
  readonly superseded: QueuedRow[] = [];

  /**
   * @param queue rows are taken from its front
   * @param reserved a permit for the first row
   */
  constructor(queue: QueuedRow[], options: WriteOptions, outcomes: OutcomeTracker, reserved: Permit | undefined) {
    this.#queue = queue;
    this.#isGroup = queue.length > options.concurrency;
    this.#options = options;
    this.#outcomes = outcomes;
    this.#reserved = reserved;
    this.#groupSize = new GroupSize(options.concurrency);
  }

  /**
   * Sends the rows. Resolves when nothing is in flight and nothing more will be sent. An error while preparing or
   * sending rows does not reject the promise, but ends the run.
   */
  async run(): Promise<void> {
    const workers = Math.min(this.#options.concurrency, this.#queue.length);
    await Promise.all(Array.from({ length: workers }, () => this.#work().catch((error) => this.#fail(error))));
    await this.#preparing;
    if (this.#prepareFailure !== undefined) this.#fail(this.#prepareFailure.cause);
    for (const { queued, permit } of this.#prepared) await this.#giveBack(queued, permit);
    await this.#reserved?.release();
  }

  async #work(): Promise<void> {
    for (let row = await this.#take(); row !== undefined; row = await this.#take()) await this.#send(row);
  }

  /**
   * False once the run has ended, or after too many consecutive failures that left their rows open (8, or twice the
   * concurrency if that is more). The remaining rows would probably fail, too.
   */
  get #shouldContinue(): boolean {
    return !this.#outcomes.ended && this.#outcomes.consecutiveFailures < Math.max(8, this.#options.concurrency * 2);
  }

  async #take(): Promise<PreparedRow | undefined> {
    for (;;) {
      const isLow = this.#prepared.length <= this.#groupSize.low && this.#queue.length > 0;
      if (isLow && this.#preparing === undefined && this.#shouldContinue && this.#prepareFailure === undefined) {
        this.#preparing = this.#prepare().catch((cause) => {
          this.#prepareFailure = { cause };
        });
      }
      const row = this.#shouldContinue ? this.#prepared.shift() : undefined;
      if (row !== undefined || !this.#shouldContinue || this.#preparing === undefined) return row;
      await this.#preparing;
    }
  }

  /**
   * Ends the run, unless it has already ended: then the error comes from a row that was still waiting, and is not the
   * reason.
   */
  #fail(error: unknown): void {
    if (!this.#outcomes.ended) this.#outcomes.stop(error);
  }

  /** Admits, leases and logs the next rows. */
  async #prepare(): Promise<void> {
    const { clock } = this.#options;
    const size = this.#groupSize.next(clock.monotonic());
    let permits: Permit[] = [];
    try {
      permits = await this.#admit(Math.min(size, this.#queue.length));
      const rows = this.#queue.splice(0, permits.length);
      this.#reserved = undefined;
      const began = clock.monotonic();
      for (const group of groupsOf(rows)) await this.#intend(group, permits);
      this.#groupSize.notePrepared(clock.monotonic() - began);
    } finally {
      for (const permit of permits) await permit.release();
      this.#preparing = undefined;
    }
  }

  /**
   * Returns as many permits as are available, at most `most`. If the stock is too old by then, uses the first of them
   * to read it, and may return none.
   */
  async #admit(most: number): Promise<Permit[]> {
    if (this.#reserved !== undefined) return [this.#reserved];
    const { governor, clock, staleAfter } = this.#options;
    const began = clock.monotonic();
    const next = this.#queue.slice(0, most);
    const needsRead = next.some((queued) => {
      const { delta, basis } = queued;
      return (
        dependsOnStock(queued) &&
        (basis.readAt === rereadRequired || (delta !== undefined && basis.readAt < began - maxAge))
      );
    });
    // The read and the rows based on it are admitted together, so that no wait separates them.
    const want = needsRead ? { min: 2 as const, max: most + 1 } : { min: 1 as const, max: most };
    const permits = [...(await governor.admitSeveral(want, this.#outcomes.ending))];
    const waited = clock.monotonic() - began;
    const isStale =
      needsRead ||
      this.#isStale ||
      waited > staleAfter ||
      (waited > maxWaitOfDelta && next.some(({ delta }) => delta !== undefined));
    // If the limit allows only one request per window, one row is sent based on the old stock, and the others after
    // another read.
    this.#isStale = isStale && this.#spentPermitOnRead;
    if (this.#isStale) for (const permit of permits.splice(1)) await permit.release();
    else if (isStale) await this.#readAgain(permits);
    this.#spentPermitOnRead = permits.length === 0;
    return permits;
  }

  /**
   * Reads the stock of all queued rows that depend on it, with the first permit, and settles those that are no longer
   * to be sent.
   */
  async #readAgain(permits: Permit[]): Promise<void> {
    const relying = this.#queue.filter(dependsOnStock);
    if (relying.length === 0) return;
    const permit = permits.shift();
    const petIds = new Set(relying.map(({ petId }) => petId));
    const beforeRetry = () => releaseAll(permits);
    const stock = await this.#options.readStock(petIds, { permit, beforeRetry }).catch(releaseAndRethrow(permits));
    const plain = this.#queue.filter((queued) => !dependsOnStock(queued));
    this.#queue.length = 0;
    for (const row of [...plain, ...this.#outcomes.recheck(relying, stock)]) this.#queue.push(row);
    this.#isGroup = this.#queue.length > this.#options.concurrency;
  }

  /**
   * Leases the pets of the rows, and writes their intents. Rows that are not granted become busy, superseded or
   * conflicts, and their permits are released.
   * @param permits at least one per row; used permits are taken from the front
   */
  async #intend(rows: readonly QueuedRow[], permits: Permit[]): Promise<void> {
    const { clock, log, timeout, reserved } = this.#options;
    const began = clock.monotonic();
    const sendBy = began + (this.#isGroup ? maxHold.inGroup : maxHold.alone);
    const inFlightUntil = sendBy + timeout;
    const intents = rows.map(({ row, petId, before, after, delta }) => {
      const rebased = delta === undefined || before === undefined ? undefined : { before, after };
      return { row, petId, inFlightUntil, rebased };
    });
    const grants = await log.intend(intents, rows[0]?.basis.readVersion, reserved?.lock).catch((error) => {
      this.toResend.push(...rows);
      throw error;
    });
    for (const [index, queued] of rows.entries()) {
      const [grant, permit] = [grants[index], permits.shift()];
      if (permit === undefined || grant === undefined) throw new Error('a row has no permit or no grant');
      if (grant.kind === 'granted') {
        const ofStock = Math.max(queued.basis.readAt + maxAgeWhenSent, began + maxHold.alone);
        const isDelta = queued.delta !== undefined;
        this.#prepared.push({ queued, permit, sendBy: isDelta ? Math.min(sendBy, ofStock) : sendBy });
      } else {
        await permit.release();
        this.#refuse(queued, grant);
      }
    }
  }

  #refuse(queued: QueuedRow, grant: Exclude<Grant, { kind: 'granted' }>): void {
    if (grant.kind === 'busy') this.busy.push({ queued, run: grant.run, until: grant.until });
    else if (queued.delta !== undefined) this.superseded.push(requireReread(queued));
    else {
      const by =
        grant.run === undefined ? 'a run that was removed from the history' : `run ${grant.run} (${grant.command})`;
      const message = `${by} has changed, or may have changed, this pet's stock since it was read`;
      this.#outcomes.conflict(queued, message);
    }
  }

  async #send({ queued, permit, sendBy }: PreparedRow): Promise<void> {
    const { client, clock, log, presence, timeout } = this.#options;
    this.#groupSize.noteSent();
    // The process may have been suspended since the intent, so that other processes hold its leases by now. It may also
    // be suspended right after `log.noteSending`, so the checks come last.
    const beginSend = () => {
      log.noteSending(queued.row);
      if (clock.monotonic() > sendBy || !presence.holdsLease) throw new PermitExpiredError();
      permit.beginSend();
    };
    try {
      const item = await client.updateInventory(queued.petId, queued.after, { permit: { ...permit, beginSend } });
      this.#outcomes.answered(queued, item);
    } catch (error) {
      if (error instanceof PermitExpiredError) this.#outcomes.notSent(queued);
      else this.#outcomes.failed(queued, error, sendBy + timeout);
      const hasOutcome = this.#outcomes.unknown.has(queued.row) || this.#outcomes.settled.has(queued.row);
      if (!hasOutcome) this.toResend.push(queued);
    }
  }

  async #giveBack(queued: QueuedRow, permit: Permit): Promise<void> {
    this.#outcomes.notSent(queued);
    this.toResend.push(queued);
    await permit.release();
  }
}

/** Yields consecutive rows that share a read version. */
function* groupsOf(rows: readonly QueuedRow[]): Generator<readonly QueuedRow[]> {
  for (let from = 0; from < rows.length; ) {
    let to = from + 1;
    while (to < rows.length && rows[to]?.basis.readVersion === rows[from]?.basis.readVersion) to += 1;
    yield rows.slice(from, to);
    from = to;
  }
}
