import { withServiceMessage } from '../api/failures.ts';
import { releaseAll } from '../rate-limit/permits.ts';
import { waitBeforeRetry } from '../rate-limit/waits.ts';
import { TimeBudget } from '../shared/clock.ts';
import {
  ConflictError,
  FailureError,
  failureText,
  NonRetryableError,
  PetstockError,
  RateLimitedError,
  UnavailableError,
} from '../shared/errors.ts';
import { settle } from '../state/intents.ts';
import { isOpen, type OpenRun, type Row } from '../state/open-run.ts';
import { type Decided, LostConnectionError, type Moment, type Store, type Turn } from '../state/state-store.ts';
import type { Answers, Statement } from '../state/statements.ts';
import { classifyFailure } from './classify-failure.ts';
import { isOverWithin, maxFailures, sendRows } from './send-rows.ts';
import { readQuantities, readStock } from './stock.ts';
import { sendFor, type TurnPlan, TurnPlanner } from './turn-planner.ts';
import type { ExecuteOptions, Execution, WriteContext } from './write-context.ts';

/** The longest read of the stock in a turn, in milliseconds. A slower list is read outside of turns. */
const maxReadInTurn = 10_000;

/**
 * Writes the open rows of a run, in groups. Each group takes the service's turn, which is not held while the limit or another run is
 * waited for. Rows of unknown outcome come last: the stock is read back to decide about them, and they are sent at most
 * once more if no answer came. Never throws.
 */
export async function execute(run: OpenRun, context: WriteContext, options: ExecuteOptions): Promise<Execution> {
  const writer = new Writer(run, context, options);
  let stoppedBy: unknown;
  try {
    await writer.writeAll();
  } catch (error) {
    stoppedBy = writer.reasonOf(error);
    const isReadBack = await writer.readBack(error);
    // If every row has its outcome then, it no longer matters why the run was stopped.
    if (isReadBack && !run.rows.some(isOpen)) stoppedBy = undefined;
  }
  return { stoppedBy, ...writer.facts };
}

/** How a turn has ended. */
interface TurnEnd {
  /** Set if the limit admitted nothing: when to ask again. */
  readonly retry?: { readonly at: number | undefined };
  /** A failure that may pass. */
  readonly failure?: TurnFailure | undefined;
  /** Whether a row that was sent did not succeed. */
  readonly hasFailed?: boolean;
}

interface TurnFailure {
  readonly error: unknown;
  /** Not set if it was the read that failed. */
  readonly row?: Row;
  /** How many requests have failed. */
  readonly count: number;
}

class Writer {
  readonly #run: OpenRun;
  readonly #context: WriteContext;
  readonly #options: ExecuteOptions;
  readonly #time: TimeBudget;
  readonly #planner: TurnPlanner;
  #readsOutside = false;
  #settled = 0;
  /** The turns, and the writes, that failed since the last row got its outcome. */
  #failures = 0;
  #failedWrites = 0;
  #rejection: PetstockError | undefined;
  /** The last 429, if no other answer came since. */
  #refusal: PetstockError | undefined;

  constructor(run: OpenRun, context: WriteContext, options: ExecuteOptions) {
    this.#run = run;
    this.#context = context;
    this.#options = options;
    this.#planner = new TurnPlanner(run, context, options);
    this.#time = options.single?.time ?? new TimeBudget(context.clock, Number.POSITIVE_INFINITY);
  }

  get facts(): Omit<Execution, 'stoppedBy'> {
    const { hasUnanswered, unwritten, stockSince } = this.#planner;
    return { rejection: this.#rejection, hasUnanswered, unwritten, quantities: stockSince?.quantities };
  }

  async writeAll(): Promise<void> {
    const { limits, history, interrupted } = this.#context;
    for (;;) {
      interrupted.throwIfAborted();
      // The lock is lost with the connection to the database. Another process may have resumed the run since.
      if (this.#run.lock.isLost) await history.retake(this.#run);
      const { rows, wait } = this.#planner.next();
      if (rows.length === 0 && wait === undefined) return;
      const settledBefore = this.#settled;
      const end = rows.length === 0 ? await this.#waitForOthers(wait) : await this.#takeTurnAndWrite(rows);
      if (this.#options.failFast && end.hasFailed) return;
      if (end.retry !== undefined) await limits.wait(end.retry.at, interrupted);
      const hasSettled = this.#settled > settledBefore;
      if (hasSettled) [this.#failures, this.#failedWrites] = [0, 0];
      if (end.failure !== undefined) await this.#pauseAfter(end.failure, hasSettled);
    }
  }

  /** Waits until the pets of some row may be free. */
  async #waitForOthers(ms = 0): Promise<TurnEnd> {
    const { clock, interrupted, onWaitForOthers } = this.#context;
    const busy = this.#planner.takeBusy();
    if (busy !== undefined) void onWaitForOthers(busy.text, busy.ms);
    await clock.sleep(ms, interrupted);
    return {};
  }

  /**
   * Reads the stock once more after the run was stopped, if that seems possible, and settles rows of unknown outcome.
   * @returns whether it was read
   */
  async readBack(stoppedBy: unknown): Promise<boolean> {
    const rows = this.#planner.endSending();
    const [row] = rows;
    if (row === undefined || !isReadable(stoppedBy) || this.#time.left <= 0) return false;
    void this.#context.onDelay(`Pet ${row.petId}: ${failureText(stoppedBy)}; reading the stock`);
    try {
      await this.#takeTurnAndWrite(rows);
      return true;
    } catch {
      // The run has ended for another reason, and its rows stay unknown.
      return false;
    }
  }

  /**
   * Returns why the run ends: for the 429 before an error, with the service's message, if the wait that it asks for is
   * too long.
   */
  reasonOf(error: unknown): unknown {
    if (this.#refusal === undefined) return error;
    try {
      if (error instanceof FailureError) this.#context.limits.requireGatePasses();
    } catch (tooLong) {
      return this.reasonOf(tooLong);
    }
    const isTooLong = error instanceof RateLimitedError && error.status === undefined;
    return isTooLong ? withServiceMessage(this.#refusal, error) : error;
  }

  async #takeTurnAndWrite(rows: readonly Row[]): Promise<TurnEnd> {
    try {
      this.#planner.beginTurn();
      if (this.#readsOutside && rows.some((row) => this.#planner.needsRead(row))) {
        // The next transaction checks what others have written since.
        const { run, service } = this.#run;
        const reader = { ...this.#context, onItem: this.#options.single?.onItem, service };
        const pets = new Set(rows.map(({ petId }) => petId));
        this.#planner.takeStock(await readStock(reader, pets, { run, time: this.#time }));
      }
      const turn = await this.#takeTurn();
      if (turn === undefined) return {};
      const end = await this.#write(rows, turn);
      if (end.retry === undefined) this.#planner.noteAdmitted();
      return end;
    } catch (error) {
      // The next turn comes over a new connection.
      if (error instanceof LostConnectionError) return {};
      throw error;
    }
  }

  /** Waits for the turn. @returns undefined if the process was stopped meanwhile */
  async #takeTurn(): Promise<Turn | undefined> {
    const { state, interrupted, suspension } = this.#context;
    const ending = new AbortController();
    const forward = () => ending.abort(interrupted.reason);
    interrupted.addEventListener('abort', forward, { once: true });
    const end = suspension.add(async () => ending.abort(suspended));
    try {
      return await state.takeTurn(this.#run.service, {
        isBulk: this.#options.single === undefined,
        signal: ending.signal,
        onWait: this.#turnWatch(),
      });
    } catch (error) {
      if (error === suspended) return undefined;
      throw error;
    } finally {
      end();
      interrupted.removeEventListener('abort', forward);
    }
  }

  /** Returns a function that tells, during a wait for the turn, who has it, and ends a wait that is too long. */
  #turnWatch(): (waited: number) => Promise<void> {
    const { history, turnWait, onWaitForOthers } = this.#context;
    let isTold = false;
    return async (waited) => {
      if (waited < Math.min(turnWait.silent, turnWait.most)) return;
      const isTooLong = waited > turnWait.most;
      if (isTold && !isTooLong) return;
      const who = await history.lastWriter(this.#run.service);
      if (isTooLong) {
        const seconds = Math.round(turnWait.most / 1000);
        throw new ConflictError(`For ${seconds} s, the service has been written to by ${who}. It may be stopped`);
      }
      isTold = true;
      await onWaitForOthers(`Waiting for ${who}, which is writing to the service`);
    };
  }

  /** The whole path of a write: plan, intent, request, outcome. */
  async #write(rows: readonly Row[], turn: Turn): Promise<TurnEnd> {
    const { suspension, clock } = this.#context;
    let plan: TurnPlan | undefined;
    let isOver = false;
    const endTurn = async () => {
      isOver = true;
      await turn.release();
    };
    const removeEnd = suspension.add(endTurn);
    const was = new Map(rows.map((row) => [row, { ...row }]));
    try {
      // The turn may have come over a new connection, which does not have the lock of the run.
      if (this.#run.lock.isLost) return {};
      // 1. Who else writes these pets, and how many requests may be sent? If no stock is needed, record the intents.
      const isDurable = !rows.every((row) => this.#planner.needsRead(row));
      plan = await this.#transact(turn, was, this.#planner.questions(rows), isDurable, (answers, moment) =>
        this.#planner.plan(rows, answers, moment),
      );
      if (plan.retry !== undefined) return { retry: plan.retry };
      // 2. If a stock is needed, read it now, and only then record the intents.
      if (plan.reads) {
        const end = await this.#readInTurn(plan);
        if (end !== undefined) return end;
        if (isOver) return {};
        const read = plan;
        plan = await this.#transact(turn, was, this.#planner.questionsAfterRead(read.rows), true, (answers, moment) =>
          this.#planner.planAfterRead(read, answers, moment),
        );
      }
      // 3. Send. What is late is awaited without the turn.
      const { rows: sendable, permits, moment } = plan;
      const sending = sendRows(sendable, permits, {
        ...this.#context,
        ...this.#options,
        signal: this.#context.interrupted,
        timeout: this.#time.limit(this.#context.timeout),
        onItem: this.#options.single?.onItem,
        sendBy: moment.at + sendFor,
        isOver: () => isOver || turn.isLost,
      });
      const began = clock.monotonic();
      const isInTime = await isOverWithin(sending.done, sendFor, clock);
      if (!isInTime) {
        sending.stop();
        await endTurn();
      }
      const sent = await this.#time.spend(() => sending.done, began);
      this.#planner.resize(sendable.length, clock.monotonic() - began);
      // 4. Record the outcomes.
      this.#planner.note(sendable, sent, was, moment);
      this.#rejection ??= sent.rejection;
      this.#refusal = sent.refusal;
      await releaseAll(permits);
      await this.#record(sendable, isOver ? undefined : turn);
      if (sent.stoppedBy !== undefined) throw sent.stoppedBy;
      const { failure, failures: count } = sent;
      return {
        hasFailed: sendable.some(({ result }) => !['applied', 'unchanged', 'pending'].includes(result)),
        failure: failure && { ...failure, count },
      };
    } finally {
      removeEnd();
      await releaseAll(plan?.permits ?? []);
      await turn.release();
    }
  }

  /** Runs a transaction that changes rows. If it fails, they are as before. */
  async #transact(
    turn: Turn,
    was: ReadonlyMap<Row, Row>,
    questions: readonly Statement[],
    isDurable: boolean,
    decide: (answers: Answers, moment: Moment) => Decided<TurnPlan>,
  ): Promise<TurnPlan> {
    const restore = () => {
      for (const [row, before] of was) Object.assign(row, before);
    };
    try {
      const plan = await turn.transact(
        questions,
        (answers, moment) => {
          restore();
          return decide(answers, moment);
        },
        isDurable,
      );
      for (const row of was.keys()) if (!isOpen(row)) this.#noteSettled(row);
      if (plan.rows.some(({ result }) => result === 'sent')) this.#run.beginning = undefined;
      return plan;
    } catch (error) {
      restore();
      throw error;
    }
  }

  /** Step 2: reads the stock. @returns how the turn ends if that failed and another attempt may succeed */
  async #readInTurn({ permits, moment, last, older }: TurnPlan): Promise<TurnEnd | undefined> {
    const { limits, timeout, clock } = this.#context;
    const { single } = this.#options;
    await limits.refresh();
    const bound = this.#time.limit(Math.min(timeout, maxReadInTurn));
    const began = clock.monotonic();
    try {
      const pets = new Set(this.#planner.open.map(({ petId }) => petId));
      const options = { permit: permits.shift(), once: true, timeout: bound };
      const quantities = await this.#time.spend(() =>
        readQuantities({ ...this.#context, onItem: single?.onItem }, pets, options, single === undefined),
      );
      this.#planner.takeStock({ quantities, at: moment.at, since: moment.now, last, older });
      return undefined;
    } catch (error) {
      if (clock.monotonic() - began >= bound && bound === maxReadInTurn) this.#readsOutside = true;
      const isRefused = error instanceof RateLimitedError && error.status !== undefined;
      if (isRefused) this.#refusal = error;
      if (limits.hasRecords) await limits.save();
      if (isRefused) return {};
      const mayPass = error instanceof UnavailableError && !(error instanceof NonRetryableError);
      if (!mayPass) throw error;
      return { failure: { error, count: 1 } };
    }
  }

  #noteSettled(row: Row): void {
    this.#settled += 1;
    this.#options.onSettled?.(row);
  }

  /** Step 4. A lost connection is no reason to stop before the outcomes are recorded. */
  async #record(rows: readonly Row[], turn: Turn | undefined): Promise<void> {
    const { state, limits } = this.#context;
    if (rows.length === 0 && !limits.hasRecords) return;
    for (const row of rows) if (!isOpen(row)) this.#noteSettled(row);
    const recordBy = (transact: Store['transact']) =>
      transact([limits.reading], ([limited], moment) => ({
        writes: [...settle(this.#run, rows, moment), ...limits.record(limited?.[0], moment)],
        result: undefined,
      }));
    await recordBy(turn === undefined || turn.isLost ? state.transact : turn.transact).catch((error) => {
      if (!(error instanceof LostConnectionError)) throw error;
      return recordBy(state.transact);
    });
  }

  /**
   * Waits after a failure, longer after each turn without success.
   * @throws the failure if the run ends with it: no row may be sent again, no time is left, or the retries are used up
   * and it is not for a pet alone. It may be as long as fewer than `maxFailures` writes have failed since the last success
   */
  async #pauseAfter({ error, row, count }: TurnFailure, hasSettled: boolean): Promise<void> {
    const { clock, random, retries, interrupted, onDelay } = this.#context;
    if (!hasSettled) {
      this.#failures += 1;
      this.#failedWrites += count;
    }
    const failures = this.#failures;
    const mayBePet = row?.result === 'unknown' && this.#failedWrites < maxFailures;
    const isOver = (failures > retries && !mayBePet) || (failures > 0 && this.#planner.isUsedUp);
    const wait = waitBeforeRetry(failures + 1, random());
    if (isOver || wait >= this.#time.left) throw error;
    const others = count > 1 ? ` and ${count - 1} more` : '';
    const again = failures === 0 || failures > retries ? 'trying again' : `trying again (${failures} of ${retries})`;
    const { open } = this.#planner;
    const isReadBack = open.length > 0 && open.every(({ result }) => result === 'unknown');
    const next = isReadBack ? 'reading the stock' : again;
    const isConnected = !(error instanceof UnavailableError && error.notCarriedOut && error.status === undefined);
    const what = row === undefined ? '' : `Pet ${row.petId}${others}: `;
    const why = isConnected ? `${what}${failureText(error)}; ${next}` : `No connection to the service; ${next}`;
    void onDelay(why, Math.max(1, failures));
    await this.#time.spend(() => clock.sleep(wait, interrupted));
  }
}

/** The reason of a wait that ends because the process is about to be stopped. */
const suspended = new Error('The process is being stopped');

/** Whether the stock can probably still be read after this error has ended the run. */
function isReadable(error: unknown): boolean {
  if (!(error instanceof PetstockError) || error instanceof NonRetryableError) return false;
  if (error instanceof UnavailableError) return true;
  // An answer to a write, perhaps one that makes no sense, tells nothing about the list.
  const isAnswer = error.status !== undefined || error instanceof FailureError;
  return isAnswer && classifyFailure(error).kind === 'unknown';
}
