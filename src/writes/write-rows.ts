import { maxRetries, waitBeforeRetry } from '../rate-limit/backoff.ts';
import { ConflictError, failureText, UnavailableError } from '../shared/errors.ts';
import { plainName } from '../shared/sanitize.ts';
import { type BusyRow, Dispatcher } from './dispatcher.ts';
import { OutcomeTracker } from './outcome-tracker.ts';
import {
  dependsOnStock,
  maxBusyWait,
  type QueuedRow,
  type RowWrite,
  requireReread,
  type WriteOptions,
  type WriteProgress,
} from './row-write.ts';
import type { Unsettled } from './settle-unknown.ts';

/** Minimum time between two attempts to write to a busy pet, in milliseconds. */
const busyPoll = 100;

/**
 * Writes rows in rounds. A round sends each row at most once, several at a time. Each row gets a permit and a lease,
 * its intent is written to disk, the request is sent, and the outcome is recorded. A row of unknown outcome is never
 * sent again blindly: after the round its stock is read, and the row is settled or sent again.
 *
 * Never throws: an error or an interruption that ends the run early becomes `stoppedBy`.
 */
export async function writeRows(rows: Iterable<RowWrite>, options: WriteOptions): Promise<WriteProgress> {
  const outcomes = new OutcomeTracker(options);
  try {
    await writeInRounds(rows, options, outcomes);
  } catch (error) {
    outcomes.stop(error);
  } finally {
    outcomes.close();
  }
  return outcomes;
}

async function writeInRounds(rows: Iterable<RowWrite>, options: WriteOptions, outcomes: OutcomeTracker): Promise<void> {
  const basis = options.stock ?? { readVersion: undefined, readAt: 0 };
  // Copied field by field to save memory.
  let queue = Array.from(rows, ({ row, petId, before, after, delta }): QueuedRow => {
    return { row, petId, before, after, delta, basis };
  });
  const count = queue.length;
  let permit = options.reserved?.permit;
  let fruitless = 0;
  let busyWaits: BusyWaits = new Map();
  const givenUp: BusyRow[] = [];
  for (;;) {
    const settledBefore = outcomes.settled.size;
    outcomes.beginRound();
    const dispatch = new Dispatcher(queue, options, outcomes, permit);
    await dispatch.run();
    const { toResend, busy, superseded } = dispatch;
    permit = undefined;
    if (outcomes.ended) return settleStopped(count, options, outcomes);
    const [hopeless, hopeful] = separateHopeless(busy, busyWaits, options);
    givenUp.push(...hopeless);
    if (options.failFast) requireNoneGivenUp(givenUp);
    // The stock of a row that depends on it is read again: this process may have been suspended since the last read.
    const back = toResend.map((queued) => (dependsOnStock(queued) ? requireReread(queued) : queued));
    busyWaits = await waitForOthers(hopeful, busyWaits, options);
    queue = [...back, ...queue, ...superseded, ...hopeful.map(rereadIfBlocked)];
    if (queue.length === 0 && outcomes.unknown.size === 0) return requireNoneGivenUp(givenUp);
    const isFruitless = outcomes.settled.size === settledBefore && outcomes.failures > 0;
    fruitless = isFruitless ? fruitless + 1 : 0;
    if (outcomes.failures > 0) await pause(fruitless, options, outcomes);
    if (outcomes.unknown.size > 0) queue = [...queue, ...(await readBack(queue.length > 0, options, outcomes))];
  }
}

/**
 * Waits after failures, longer after each round without success.
 * @throws the last failure, once there were too many rounds without success
 */
async function pause(fruitless: number, options: WriteOptions, outcomes: OutcomeTracker): Promise<void> {
  const { retries = maxRetries } = options;
  const problem = outcomes.lastFailure;
  if (fruitless > retries) {
    await settleOnce(options, outcomes);
    throw problem;
  }
  const wait = waitBeforeRetry(fruitless + 1, options.random());
  const others = outcomes.failures > 1 ? ` and ${outcomes.failures - 1} more` : '';
  // Rounds with a success are not counted.
  const again = fruitless === 0 ? 'trying again' : `trying again (${fruitless} of ${retries})`;
  const next = outcomes.unknown.size === 0 ? again : 'reading the stock';
  const isConnected = !(problem instanceof UnavailableError && problem.notCarriedOut && problem.status === undefined);
  const why = `Pet ${outcomes.lastFailedPet}${others}: ${failureText(problem)}; ${next}`;
  void options.onDelay(isConnected ? why : `No connection to the service; ${next}`, Math.max(1, fruitless));
  await options.clock.sleep(wait, options.interrupted);
}

/**
 * Reads the stock of the rows of unknown outcome, until some can be sent again or no request is in flight.
 * @param hasOthers whether other rows can be sent meanwhile; if so, rows still in flight are checked afterwards
 */
async function readBack(
  hasOthers: boolean,
  options: WriteOptions,
  outcomes: OutcomeTracker,
): Promise<readonly QueuedRow[]> {
  const { clock, interrupted } = options;
  const found: QueuedRow[] = [];
  for (;;) {
    const { again, inFlightUntil } = await readAndSettle(options, outcomes, false);
    found.push(...again);
    if (inFlightUntil === undefined || hasOthers || found.length > 0) return found;
    const wait = inFlightUntil - clock.monotonic();
    const seconds = Math.ceil(wait / 1000);
    void options.onDelay(`An unanswered request may still reach the service; checking again in ${seconds} s`);
    await clock.sleep(Math.max(1, Math.ceil(wait)), interrupted);
  }
}

/**
 * Settles rows of unknown outcome after the run was stopped, if the stock can still be read. If every row is settled by
 * then, the reason for the stop is dropped.
 */
async function settleStopped(count: number, options: WriteOptions, outcomes: OutcomeTracker): Promise<void> {
  if (!outcomes.isReadable) return;
  const { lastFailedPet, stoppedBy } = outcomes;
  void options.onDelay(`Pet ${lastFailedPet}: ${failureText(stoppedBy)}; reading the stock`);
  await settleOnce(options, outcomes);
  if (outcomes.settled.size === count) outcomes.stoppedBy = undefined;
}

/** Reads the stock once before the run gives up, to settle the rows of unknown outcome. */
async function settleOnce(options: WriteOptions, outcomes: OutcomeTracker): Promise<void> {
  if (outcomes.unknown.size > 0) await readAndSettle(options, outcomes, true);
}

/**
 * Reads the stock of the rows of unknown outcome, then what other runs have written since, and settles the rows
 * accordingly.
 */
async function readAndSettle(options: WriteOptions, outcomes: OutcomeTracker, isLast: boolean): Promise<Unsettled> {
  const now = options.clock.monotonic();
  const writes = [...outcomes.unknown.values()].map(({ write }) => write);
  const stock = await options.readStock(new Set(writes.map(({ petId }) => petId)));
  const { settleUnknown } = await import('./settle-unknown.ts');
  return settleUnknown(outcomes, stock, await options.writesSince(writes), { now, isLast });
}

/**
 * How long rows have waited for other commands that are changing the same pets, by row number, in milliseconds. Waits
 * for the rate limit don't count.
 */
type BusyWaits = ReadonlyMap<number, number>;

/**
 * Separates the rows that have waited too long for their pet from the others. A row that is blocked by a request of a
 * dead process is not given up before that request can no longer be in flight.
 */
function separateHopeless(busy: readonly BusyRow[], busyWaits: BusyWaits, { clock }: WriteOptions) {
  const at = clock.monotonic();
  const isHopeless = ({ queued: { row }, until = 0 }: BusyRow) => (busyWaits.get(row) ?? 0) > maxBusyWait && until < at;
  return [busy.filter(isHopeless), busy.filter((one) => !isHopeless(one))] as const;
}

/**
 * Waits until the pets may be free: 100 ms, or longer if a request of a dead process may still reach one of them.
 * @returns the waits, including this wait
 */
async function waitForOthers(
  busy: readonly BusyRow[],
  busyWaits: BusyWaits,
  { clock, interrupted, onDelay }: WriteOptions,
): Promise<BusyWaits> {
  const [first] = busy;
  if (first === undefined) return new Map();
  const at = clock.monotonic();
  const known = Math.max(...busy.map(({ until }) => until ?? 0));
  if (busyWaits.size === 0 && known - at > 1000) {
    const seconds = Math.ceil((known - at) / 1000);
    void onDelay(`A request of ${writerOf(first)} may still reach the service; continuing in ${seconds} s`);
  }
  const wait = Math.max(busyPoll, known - at);
  await clock.sleep(wait, interrupted);
  return new Map(busy.map(({ queued: { row } }) => [row, (busyWaits.get(row) ?? 0) + wait]));
}

/**
 * Returns the row, marked for a new read of its stock if a request of a dead process blocked the pet. That request may
 * have arrived, but it has no outcome that the read version could be compared with.
 */
function rereadIfBlocked({ queued, until }: BusyRow): QueuedRow {
  return until === undefined ? queued : requireReread(queued);
}

function writerOf({ run }: BusyRow): string {
  return run === undefined ? 'another command' : `run ${plainName(run)}`;
}

/** @throws ConflictError if rows were given up; they were not attempted */
function requireNoneGivenUp([first, ...others]: readonly BusyRow[]): void {
  if (first === undefined) return;
  const { length } = others;
  const more = length === 0 ? '' : `, and ${length} more ${length === 1 ? 'pet is' : 'pets are'} being written`;
  throw new ConflictError(`${writerOf(first)} is still writing pet ${first.queued.petId}${more}`);
}
