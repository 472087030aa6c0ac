import { maxRetries, waitBeforeRetry } from '../rate-limit/backoff.ts';
import { failureText, UnavailableError } from '../shared/errors.ts';
import { plainName } from '../shared/sanitize.ts';
import { type BusyRow, Dispatch } from './dispatch.ts';
import { Outcomes } from './outcomes.ts';
import {
  isRelying,
  longestBusy,
  outdated,
  type Progression,
  type QueuedRow,
  type RowWrite,
  type WriteOptions,
} from './row-write.ts';
import type { Unsettled } from './settle-unknown.ts';

/** How often a row looks whether its pet is free, in milliseconds. */
const busyPoll = 100;

/**
 * Writes rows in rounds. A round sends each row at most once, some at a time: admitted, leased, its intent on disk, then the
 * request, then its outcome. A row of which it is not known whether it was written is never sent again blindly: after the
 * round the stock is read, and the row is settled, sent again, or a conflict.
 *
 * Throws nothing: `stoppedBy` says what went wrong, and the rows say where they stand.
 */
export async function writeRows(rows: Iterable<RowWrite>, options: WriteOptions): Promise<Progression> {
  const outcomes = new Outcomes(options);
  try {
    await writeInRounds(rows, options, outcomes);
  } catch (error) {
    outcomes.stop(error);
  } finally {
    outcomes.close();
  }
  return outcomes;
}

async function writeInRounds(rows: Iterable<RowWrite>, options: WriteOptions, outcomes: Outcomes): Promise<void> {
  const look = options.stock ?? { mark: undefined, readAt: 0 };
  // Field by field, so that they are small in memory.
  let queue = Array.from(rows, ({ row, petId, before, after, delta }): QueuedRow => {
    return { row, petId, before, after, delta, look };
  });
  const count = queue.length;
  let permit = options.reserved?.permit;
  let fruitless = 0;
  let busySince: number | undefined;
  for (;;) {
    const settledBefore = outcomes.settled.size;
    outcomes.beginRound();
    const dispatch = new Dispatch(queue, options, outcomes, permit);
    await dispatch.run();
    const { unsent, busy, overtaken } = dispatch;
    permit = undefined;
    if (outcomes.ended) return settleStopped(count, options, outcomes);
    busySince = busy.length === 0 ? undefined : (busySince ?? options.clock.monotonic());
    // What relies on a stock is never sent on that of a try that failed: the process may have been stopped since.
    const back = unsent.map((queued) => (isRelying(queued) ? outdated(queued) : queued));
    queue = [...back, ...queue, ...overtaken, ...(await waitForOthers(busy, busySince, options, outcomes))];
    if (queue.length === 0 && outcomes.unknown.size === 0) return;
    const isFruitless = outcomes.settled.size === settledBefore && outcomes.faults > 0;
    fruitless = isFruitless ? fruitless + 1 : 0;
    if (outcomes.faults > 0) await pause(fruitless, options, outcomes);
    if (outcomes.unknown.size > 0) queue = [...queue, ...(await readBack(queue.length > 0, options, outcomes))];
  }
}

/** Waits after faults, longer each time. @throws the last fault, after as many tries as are worth it */
async function pause(fruitless: number, options: WriteOptions, outcomes: Outcomes): Promise<void> {
  const { retries = maxRetries } = options;
  const fault = outcomes.lastFault;
  if (fruitless > retries) {
    await settleOnce(options, outcomes);
    throw fault;
  }
  const wait = waitBeforeRetry(fruitless + 1, options.random());
  const count = outcomes.unknown.size;
  const others = outcomes.faults > 1 ? ` and ${outcomes.faults - 1} more` : '';
  const again = `trying again (${Math.max(1, fruitless)} of ${retries})`;
  const what = count === 0 ? again : `reading ${count === 1 ? 'its' : 'their'} stock`;
  const isConnected = !(fault instanceof UnavailableError && fault.unsent && fault.status === undefined);
  const why = `Pet ${outcomes.lastFaultPet}${others}: ${failureText(fault)}; ${what}`;
  void options.onDelay(isConnected ? why : `No connection to the service, ${what}`, Math.max(1, fruitless));
  await options.clock.sleep(wait, options.interrupted);
}

/**
 * Reads the stock of rows of unknown outcome, until all are settled or to be sent again.
 * @param hasOthers there is something else to send meanwhile: what may still arrive is looked at after that
 */
async function readBack(hasOthers: boolean, options: WriteOptions, outcomes: Outcomes): Promise<readonly QueuedRow[]> {
  const { clock, interrupted } = options;
  const found: QueuedRow[] = [];
  for (;;) {
    const { again, arrivesUntil } = await lookAtUnknown(options, outcomes, false);
    found.push(...again);
    if (arrivesUntil === undefined || hasOthers || found.length > 0) return found;
    const wait = arrivesUntil - clock.monotonic();
    const seconds = Math.ceil(wait / 1000);
    void options.onDelay(`A request without an answer may still arrive; looking again in ${seconds} s`);
    await clock.sleep(Math.max(1, Math.ceil(wait)), interrupted);
  }
}

/** Where the service may still answer a read, a run that was stopped looks at the stock. What stopped it counts if rows are left. */
async function settleStopped(count: number, options: WriteOptions, outcomes: Outcomes): Promise<void> {
  if (!outcomes.isReadable) return;
  const { lastFaultPet, stoppedBy, unknown } = outcomes;
  const whose = unknown.size === 1 ? 'its' : 'their';
  void options.onDelay(`Pet ${lastFaultPet}: ${failureText(stoppedBy)}; reading ${whose} stock`);
  await settleOnce(options, outcomes);
  if (outcomes.settled.size === count) outcomes.stoppedBy = undefined;
}

/** A run that gives up still says what became of the rows that were sent. */
async function settleOnce(options: WriteOptions, outcomes: Outcomes): Promise<void> {
  if (outcomes.unknown.size > 0) await lookAtUnknown(options, outcomes, true);
}

/** Reads the stock of the rows of unknown outcome, and behind it what other runs have written, which they may have left as it was found. */
async function lookAtUnknown(options: WriteOptions, outcomes: Outcomes, isLast: boolean): Promise<Unsettled> {
  const now = options.clock.monotonic();
  const writes = [...outcomes.unknown.values()].map(({ write }) => write);
  const stock = await options.readStock(new Set(writes.map(({ petId }) => petId)));
  const { settleUnknown } = await import('./settle-unknown.ts');
  return settleUnknown(outcomes, stock, await options.log.writesSince(writes), { now, isLast });
}

/** Waits a moment for the commands that are writing some pets. Returns the rows that are to be tried again. */
async function waitForOthers(
  busy: readonly BusyRow[],
  since: number | undefined,
  { clock, interrupted, onDelay }: WriteOptions,
  outcomes: Outcomes,
): Promise<readonly QueuedRow[]> {
  const [first] = busy;
  if (first === undefined) return [];
  const at = clock.monotonic();
  const waited = at - (since ?? at);
  const by = first.run === undefined ? 'another command' : `run ${plainName(first.run)}`;
  const known = Math.max(...busy.map(({ until }) => until ?? 0));
  // A pet whose command is gone is free at a known time; one that is alive may take longer than is worth waiting for.
  const isHopeless = waited > longestBusy && known < at;
  if (isHopeless) {
    for (const { queued } of busy) outcomes.conflict(queued, `${by} is still writing it`);
    return [];
  }
  if (waited === 0 && known - at > 1000) {
    const seconds = Math.ceil((known - at) / 1000);
    void onDelay(`A request of ${by} may still arrive; continuing in ${seconds} s`);
  }
  await clock.sleep(Math.max(busyPoll, known - at), interrupted);
  // A request that could have arrived meanwhile has no outcome that a mark would tell: the stock tells.
  return busy.map(({ queued, until }) => (until === undefined ? queued : outdated(queued)));
}
