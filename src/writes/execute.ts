import type { Client } from '../api/client.ts';
import { withServiceMessage } from '../api/failures.ts';
import type { InventoryItem } from '../inventory/items.ts';
import type { Limits } from '../rate-limit/limits.ts';
import { type Permit, releaseAll } from '../rate-limit/permits.ts';
import { waitBeforeRetry } from '../rate-limit/waits.ts';
import type { Clock } from '../shared/clock.ts';
import {
  ConflictError,
  failureText,
  NonRetryableError,
  type PetstockError,
  RateLimitedError,
  UnavailableError,
} from '../shared/errors.ts';
import type { History } from '../state/history.ts';
import {
  countersOf,
  inFlightElsewhere,
  intend,
  lastIntent,
  lastWriteOf,
  lastWritten,
  otherWriteOf,
  settle,
  writtenElsewhere,
} from '../state/intents.ts';
import { isOpen, type LastWrite, type OpenRun, type OtherWrite, type Row } from '../state/open-run.ts';
import type { Answers, Statement } from '../state/statements.ts';
import { type Decided, LostConnectionError, type Moment, type Store, type Turn } from '../state/store.ts';
import { classifyFailure } from './classify-failure.ts';
import { groupByPet, laterWrites, maxReplicaLag, type Step, stepOf, type ZeroAllowance } from './rows.ts';
import { type Sent, sendRows } from './send-rows.ts';
import { busyPause, lagPause, readQuantities, readStock, type Stock } from './stock.ts';

/** What writes need of their surroundings: one service, its state, and its limits. */
export interface WriteContext {
  readonly state: Store;
  readonly history: History;
  readonly limits: Limits;
  readonly client: Pick<Client, 'scanInventory' | 'updateInventory'>;
  readonly clock: Clock;
  readonly interrupted: AbortSignal;
  readonly suspension: Suspension;
  /** The time limit of a request, in milliseconds. */
  readonly timeout: number;
  /** The most attempts in a row without success, after the first. */
  readonly retries: number;
  /** The longest wait for a turn, in milliseconds, and after how long it is told. */
  readonly turnWait: { readonly most: number; readonly silent: number };
  /** Whether the service may have replicas that are behind. */
  readonly mayLag: boolean;
  random(): number;
  /** Tells why the command waits. `attempt`: how often it has tried in vain. */
  onDelay(sentence: string, attempt?: number): unknown;
  /** Tells who has the turn that the command waits for. */
  onTurnWait(sentence: string): unknown;
}

/** What is to be done before the process is stopped, as by Ctrl-Z. */
export interface Suspension {
  /** @returns a function that takes `release` out again */
  add(release: () => Promise<void>): () => void;
}

export interface ExecuteOptions {
  /** The stock that the rows were planned with, if it was read. */
  readonly stock: Stock | undefined;
  /** The most requests at a time. */
  readonly concurrency: number;
  readonly failFast: boolean;
  readonly zeros: ZeroAllowance;
  /** Whether a person waits for a single change: it goes first, and is over after two time-outs. */
  readonly isSingle: boolean;
  /** Reports whether a change may be sent. If not, the run ends with the row still pending. */
  approve?(before: number | undefined, after: number): boolean;
  onSettled?(row: Row): void;
  /** Called with each item of the run's pets that the service returns. */
  onItem?(item: InventoryItem): void;
}

/** How the work on a run has ended. The outcomes are in its rows. */
export interface Execution {
  /** Why the run ended before each row had its outcome. */
  readonly stoppedBy: unknown;
  /** The first rejection, or answer with another quantity than requested. */
  readonly rejection: PetstockError | undefined;
  /** Whether a request has got no answer, so that it may be carried out later. */
  readonly hasUnanswered: boolean;
  /** Rows that were sent and certainly not carried out. */
  readonly unwritten: ReadonlySet<Row>;
  /** The stock of pets that was last read. */
  readonly quantities: Stock['quantities'] | undefined;
}

/** The most rows of one turn, and how long their requests should take, in milliseconds: others wait meanwhile. */
const turnSize = { most: 512, lasts: 500 };
/** How long a turn may send, in milliseconds. Requests that are then under way are awaited without the turn. */
const sendFor = 3000;
/** The longest read of the stock in a turn, in milliseconds. A slower list is read outside of turns. */
const maxReadInTurn = 10_000;
/** The oldest stock that a delta is added to, in milliseconds. */
const maxDeltaAge = 2000;
/** The longest pause after which a quantity may still rely on an earlier stock, in milliseconds. */
const maxPause = 5000;

/**
 * Writes the open rows of a run, in groups. Each group takes the service's turn; nothing is held while anything else is
 * waited for. Rows of unknown outcome come last: the stock is read back to decide about them, and they are sent at most
 * once more if no answer came. Never throws.
 */
export async function execute(run: OpenRun, context: WriteContext, options: ExecuteOptions): Promise<Execution> {
  const writer = new Writer(run, context, options);
  let stoppedBy: unknown;
  try {
    await writer.writeAll();
  } catch (error) {
    stoppedBy = writer.withRefusal(error);
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
  readonly failure?: { readonly error: unknown; readonly petId?: bigint; readonly count: number };
  /** Whether a change was not approved. */
  readonly isHeld?: boolean;
}

interface Plan {
  readonly rows: readonly Row[];
  readonly reads: boolean;
  readonly retry: TurnEnd['retry'];
  readonly isHeld: boolean;
  readonly others: ReadonlyMap<bigint, readonly OtherWrite[]>;
  readonly older: Stock['older'];
  readonly last: number;
  readonly moment: Moment;
}

class Writer {
  readonly #run: OpenRun;
  readonly #context: WriteContext;
  readonly #options: ExecuteOptions;
  readonly #time: TimeBudget;
  #open: readonly Row[];
  /** When to look again at a row, by the monotonic clock. */
  readonly #later = new Map<Row, number>();
  /** Rows that stay as they are. */
  readonly #left = new Set<Row>();
  readonly #unwritten = new Set<Row>();
  /** How often each row was sent, and how often no answer came. */
  readonly #sends = new Map<Row, number>();
  readonly #losses = new Map<Row, number>();
  /** Rows that were sent after the stock was read. */
  readonly #sentSince = new Set<Row>();
  /** Rows whose stock may have come from a replica that is behind. */
  readonly #readAgain = new Set<Row>();
  #stock: Stock | undefined;
  /** A stock that was read before this is too old for a row without a delta, by the monotonic clock. */
  #trustFrom = Number.NEGATIVE_INFINITY;
  /** When a turn was last admitted, by the monotonic clock. */
  #lastTurnAt: number;
  #readsOutside = false;
  /** Whether the limit has admitted only the read of a turn: the next turn relies on it, however old it is. */
  #keepsStock = false;
  /** Whether the stock was read again after a wait for the limit. If that admits one request at a time, once must do. */
  #hasReread: boolean;
  /** How many rows the next turn may have. */
  #size: number;
  #settled = 0;
  #hasUnanswered = false;
  #toldUntil = 0;
  #busy: { readonly run: string; readonly until: number } | undefined;
  #rejection: PetstockError | undefined;
  /** The last 429, if no other answer came since. */
  #refusal: PetstockError | undefined;

  constructor(run: OpenRun, context: WriteContext, options: ExecuteOptions) {
    const { clock, timeout } = context;
    this.#run = run;
    this.#context = context;
    this.#options = options;
    this.#open = run.rows.filter(isOpen);
    this.#stock = options.stock;
    this.#lastTurnAt = options.stock?.at ?? Number.NEGATIVE_INFINITY;
    this.#size = 2 * options.concurrency;
    this.#hasReread = options.stock !== undefined;
    this.#time = new TimeBudget(clock, options.isSingle ? 2 * timeout : Number.POSITIVE_INFINITY);
  }

  get facts(): Omit<Execution, 'stoppedBy'> {
    return {
      rejection: this.#rejection,
      hasUnanswered: this.#hasUnanswered,
      unwritten: this.#unwritten,
      quantities: this.#stock?.quantities,
    };
  }

  async writeAll(): Promise<void> {
    const { clock, limits, history, interrupted, retries } = this.#context;
    for (let failures = 0; ; ) {
      interrupted.throwIfAborted();
      // The lock is lost with the connection to the database. Another process may have resumed the run since.
      if (this.#run.lock.isLost) await history.retake(this.#run);
      const { rows, wait } = this.#next();
      if (rows.length === 0 && wait === undefined) return;
      if (rows.length === 0) {
        this.#tellBusy();
        await clock.sleep(wait ?? 0, interrupted);
        continue;
      }
      const settledBefore = this.#settled;
      const { retry, failure, isHeld } = await this.#takeTurnAndWrite(rows, true);
      if (isHeld || this.#hasToStop) return;
      if (retry !== undefined) await limits.wait(retry.at, interrupted);
      if (failure === undefined) continue;
      failures = this.#settled > settledBefore ? 0 : failures + 1;
      if (failures > retries) throw failure.error;
      await this.#pauseAfter(failure, failures);
    }
  }

  /** Whether a row did not succeed, and no further one is to be sent. */
  get #hasToStop(): boolean {
    return this.#options.failFast && this.#run.rows.some((row) => this.#sends.has(row) && !hasSucceeded(row));
  }

  /** Returns the rows of the next turn; none and a wait if all have to wait; neither if nothing is left to do. */
  #next(): { readonly rows: readonly Row[]; readonly wait: number | undefined } {
    const at = this.#context.clock.monotonic();
    this.#open = this.#open.filter((row) => isOpen(row) && !this.#left.has(row));
    // Rows of unknown outcome come last, so that one read of the stock decides about all of them.
    const pending = this.#open.filter(({ result }) => result === 'pending');
    const rows: Row[] = [];
    let earliest = Number.POSITIVE_INFINITY;
    for (const row of pending.length > 0 ? pending : this.#open) {
      const due = this.#later.get(row) ?? at;
      earliest = Math.min(earliest, due);
      if (due <= at && rows.push(row) === this.#size) break;
    }
    const isWaiting = rows.length === 0 && this.#open.length > 0;
    return { rows, wait: isWaiting ? Math.max(1, earliest - at) : undefined };
  }

  /**
   * Reads the stock once more after the run was stopped, if that seems possible, and settles rows of unknown outcome.
   * @returns whether it was read
   */
  async readBack(stoppedBy: unknown): Promise<boolean> {
    const rows = this.#run.rows.filter((row) => row.result === 'unknown' && !this.#left.has(row));
    if (rows.length === 0 || !isReadable(stoppedBy) || this.#time.left <= 0) return false;
    this.#open = rows;
    try {
      await this.#takeTurnAndWrite(rows, false);
      return true;
    } catch {
      // The run has ended for another reason, and its rows stay unknown.
      return false;
    }
  }

  /** Adds the service's message to the refusal of a wait that its 429 has caused. */
  withRefusal(error: unknown): unknown {
    const isTooLong = error instanceof RateLimitedError && error.status === undefined;
    return isTooLong && this.#refusal !== undefined ? withServiceMessage(this.#refusal, error) : error;
  }

  /** @param sends whether rows may be sent; otherwise the stock is only read back */
  async #takeTurnAndWrite(rows: readonly Row[], sends: boolean): Promise<TurnEnd> {
    const { clock } = this.#context;
    try {
      if (clock.monotonic() - this.#lastTurnAt > maxPause) this.#trustFrom = clock.monotonic();
      if (this.#readsOutside && rows.some((row) => this.#needsRead(row))) {
        const end = await this.#readOutside(rows);
        if (end !== undefined) return end;
      }
      const turn = await this.#takeTurn();
      if (turn === undefined) return {};
      const end = await this.#write(rows, turn, sends);
      if (end.retry === undefined) this.#lastTurnAt = clock.monotonic();
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
        isBulk: !this.#options.isSingle,
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
    const { history, turnWait, onTurnWait } = this.#context;
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
      await onTurnWait(`Waiting for ${who}, which is writing to the service`);
    };
  }

  /** The whole path of a write: plan, intent, request, outcome. */
  async #write(rows: readonly Row[], turn: Turn, sends: boolean): Promise<TurnEnd> {
    const { suspension, clock } = this.#context;
    const permits: Permit[] = [];
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
      const isDurable = !rows.every((row) => this.#needsRead(row));
      let plan = await this.#transact(turn, was, this.#questions(rows), isDurable, (answers, moment) =>
        this.#plan(rows, answers, moment, permits, sends),
      );
      if (plan.retry !== undefined) return { retry: plan.retry };
      // 2. If a stock is needed, read it now, and only then record the intents.
      if (plan.reads) {
        const end = await this.#readInTurn(plan, permits.shift());
        if (end !== undefined) return end;
        if (isOver) return {};
        const { rows: free } = plan;
        const read = plan;
        plan = await this.#transact(turn, was, this.#questionsAfterRead(free), true, (answers, moment) =>
          this.#planAfterRead(read, answers, moment, permits, sends),
        );
      }
      // 3. Send. What is late is awaited without the turn.
      const sending = sendRows(plan.rows, permits, {
        ...this.#context,
        ...this.#options,
        signal: this.#context.interrupted,
        timeout: Math.min(this.#context.timeout, Math.max(1, this.#time.left)),
        sendBy: plan.moment.at + sendFor,
        isOver: () => isOver || turn.isLost,
      });
      const began = clock.monotonic();
      const isInTime = await isOverWithin(sending.done, sendFor, clock);
      if (!isInTime) {
        sending.stop();
        await endTurn();
      }
      const sent = await this.#time.spend(() => sending.done, began);
      this.#resize(plan.rows.length, clock.monotonic() - began);
      // 4. Record the outcomes.
      this.#note(plan.rows, sent, was, plan.moment);
      await releaseAll(permits);
      await this.#record(plan.rows, isOver ? undefined : turn);
      if (sent.stoppedBy !== undefined) throw sent.stoppedBy;
      const { failure, failures: count } = sent;
      const { isHeld } = plan;
      return failure === undefined ? { isHeld } : { failure: { ...failure, petId: failure.row.petId, count } };
    } finally {
      removeEnd();
      await releaseAll(permits);
      await turn.release();
    }
  }

  /** Makes the next turn as large as may be sent in time. */
  #resize(count: number, ms: number): void {
    const { concurrency } = this.#options;
    if (count < concurrency) return;
    const rounds = Math.floor((count * turnSize.lasts) / Math.max(1, ms) / concurrency);
    this.#size = Math.min(Math.max(1, rounds) * concurrency, 4 * count, turnSize.most);
  }

  /** Runs a transaction that changes rows. If it fails, they are as before. */
  async #transact(
    turn: Turn,
    was: ReadonlyMap<Row, Row>,
    questions: readonly Statement[],
    isDurable: boolean,
    decide: (answers: Answers, moment: Moment) => Decided<Plan>,
  ): Promise<Plan> {
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

  #questions(rows: readonly Row[]): Statement[] {
    const { limits } = this.#context;
    const { service } = this.#run;
    const pets = rows.map(({ petId }) => petId);
    return [
      ...[lastIntent(service), limits.reading, inFlightElsewhere(this.#run)],
      ...writtenElsewhere(this.#run, pets, this.#since(rows)),
    ];
  }

  /** The intent after which writes of other runs matter to these rows. */
  #since(rows: readonly Row[]): number {
    const { began, isResumed } = this.#run;
    const known = rows.flatMap(({ result, basis, intent }) =>
      result === 'pending' ? (basis ?? (isResumed ? began : [])) : (intent ?? 0),
    );
    return Math.min(this.#stock?.last ?? Number.MAX_SAFE_INTEGER, ...known);
  }

  /** Step 1, within its transaction. */
  #plan(
    rows: readonly Row[],
    [counters, limited, underWay = [], ...written]: Answers,
    moment: Moment,
    permits: Permit[],
    sends: boolean,
  ): Decided<Plan> {
    const { last, removed } = countersOf(counters);
    const others = groupByPet([...underWay, ...written.flat()].map(otherWriteOf));
    const { busy, older } = this.#busyPets(others, last, moment);
    const free = rows.filter(({ petId }) => !busy.has(petId));
    const reads = free.some((row) => this.#needsRead(row, others.get(row.petId), removed));
    const facts = { others, older, last, moment, reads };
    const steps = reads ? undefined : this.#decide(free, this.#stock, facts, new Map(), sends);
    const wanted = steps?.toSend.length ?? free.length + 1;
    // A probe admits only the read; so does a read back.
    const count = { min: reads && sends ? 2 : 1, max: reads && !sends ? 1 : wanted } as const;
    const admission = wanted === 0 || free.length === 0 ? undefined : this.#admit(limited, moment, count, permits);
    const retry = admission !== undefined && permits.length === 0 ? { at: admission.retryAt } : undefined;
    const toSend = steps?.toSend.slice(0, permits.length) ?? [];
    const writes = [...this.#rowWrites(toSend, steps?.settled ?? [], last, moment), ...(admission?.writes ?? [])];
    const sent = toSend.map(({ row }) => row);
    return { writes, result: { ...facts, retry, rows: reads ? free : sent, isHeld: steps?.isHeld ?? false } };
  }

  #admit(limited: Answers[number] | undefined, moment: Moment, count: { min: 1 | 2; max: number }, permits: Permit[]) {
    permits.length = 0;
    const admission = this.#context.limits.admit(limited?.[0], moment, count);
    permits.push(...admission.permits);
    return admission;
  }

  /** Finds the pets to which requests of other runs may be under way, and leaves their rows to a later turn. */
  #busyPets(others: Plan['others'], last: number, { now, at }: Moment) {
    const busy = new Map<bigint, number>();
    const older = new Map<bigint, number>();
    for (const { petId, run, intent, inFlightUntil = 0 } of [...others.values()].flat()) {
      if (inFlightUntil <= now) continue;
      busy.set(petId, Math.max(inFlightUntil, busy.get(petId) ?? 0));
      older.set(petId, Math.min(intent - 1, older.get(petId) ?? last));
      if (this.#open.some((row) => row.petId === petId)) this.#busy = { run, until: at + inFlightUntil - now };
    }
    for (const row of this.#open) {
      const until = busy.get(row.petId);
      if (until !== undefined) this.#later.set(row, at + Math.min(until - now, busyPause));
    }
    return { busy, older };
  }

  /** Step 2: reads the stock. @returns how the turn ends if that failed and another attempt may succeed */
  async #readInTurn(plan: Plan, permit: Permit | undefined): Promise<TurnEnd | undefined> {
    const { limits, timeout, clock } = this.#context;
    const { isSingle } = this.#options;
    await limits.refresh();
    const bound = Math.min(timeout, maxReadInTurn, Math.max(1, this.#time.left));
    const began = clock.monotonic();
    try {
      const pets = new Set(this.#open.map(({ petId }) => petId));
      const options = { permit, once: true, timeout: bound };
      const quantities = await this.#time.spend(() =>
        readQuantities({ ...this.#context, ...this.#options }, pets, options, !isSingle),
      );
      const { last, older } = plan;
      this.#stock = { quantities, at: plan.moment.at, last, older };
      this.#sentSince.clear();
      return undefined;
    } catch (error) {
      if (clock.monotonic() - began >= bound && bound === maxReadInTurn) this.#readsOutside = true;
      return this.#endOfRead(error);
    }
  }

  /** Reads the stock without the turn. The next transaction checks what others have written since. */
  async #readOutside(rows: readonly Row[]): Promise<TurnEnd | undefined> {
    const { timeout } = this.#context;
    const { run, service } = this.#run;
    try {
      const pets = new Set(rows.map(({ petId }) => petId));
      const reader = { ...this.#context, ...this.#options, service };
      const limit = Math.min(timeout, Math.max(1, this.#time.left));
      this.#stock = await this.#time.spend(() => readStock(reader, pets, { run, once: true, timeout: limit }));
      this.#sentSince.clear();
      return undefined;
    } catch (error) {
      return this.#endOfRead(error);
    }
  }

  /** @throws a failure that will not pass */
  async #endOfRead(error: unknown): Promise<TurnEnd> {
    const { limits } = this.#context;
    if (limits.hasRecords) await limits.save();
    if (error instanceof RateLimitedError && error.status !== undefined) {
      this.#refusal = error;
      return {};
    }
    const mayPass = error instanceof UnavailableError && !(error instanceof NonRetryableError);
    if (!mayPass) throw error;
    return { failure: { error, count: 1 } };
  }

  #questionsAfterRead(rows: readonly Row[]): Statement[] {
    const { limits, mayLag } = this.#context;
    const { service } = this.#run;
    const recent = mayLag
      ? lastWritten(
          service,
          rows.map(({ petId }) => petId),
        )
      : [];
    return [lastIntent(service), limits.reading, ...recent];
  }

  /** Step 2, within its transaction: nothing is sent if an intent was recorded since, because the lock has failed. */
  #planAfterRead(
    plan: Plan,
    [counters, limited, ...recent]: Answers,
    moment: Moment,
    permits: Permit[],
    sends: boolean,
  ): Decided<Plan> {
    const { limits } = this.#context;
    const { last } = countersOf(counters);
    if (last !== plan.last) return { writes: [], result: { ...plan, rows: [], moment } };
    const writes = new Map(
      recent
        .flat()
        .map(lastWriteOf)
        .map((write) => [write.petId, write]),
    );
    const { toSend, settled, isHeld } = this.#decide(plan.rows, this.#stock, plan, writes, sends);
    const missing = toSend.length - permits.length;
    // A probe had admitted only the read.
    const more = missing > 0 ? limits.admit(limited?.[0], moment, { min: 1, max: missing }) : undefined;
    permits.push(...(more?.permits ?? []));
    const now = toSend.slice(0, permits.length);
    const isHeldBack = toSend.length > 0 && now.length === 0;
    this.#keepsStock = isHeldBack && this.#hasReread;
    this.#hasReread ||= isHeldBack;
    return {
      writes: [
        ...this.#rowWrites(now, settled, last, moment),
        ...(more?.writes ?? limits.record(limited?.[0], moment)),
      ],
      result: { ...plan, rows: now.map(({ row }) => row), moment, isHeld },
    };
  }

  /** Returns the statements that begin the run with its first intent, settle rows, and record intents. */
  #rowWrites(toSend: readonly ToSend[], settled: readonly Row[], last: number, moment: Moment): Statement[] {
    const { beginning } = this.#run;
    // A run that has not begun leaves nothing behind.
    if (beginning !== undefined && toSend.length === 0) return [];
    if (beginning !== undefined) this.#run.began = last;
    for (const { row, before, after } of toSend) Object.assign(row, { before, after });
    const rows = toSend.map(({ row }) => row);
    return [
      ...(beginning?.(moment) ?? []),
      ...settle(this.#run, settled, moment),
      ...intend(this.#run, rows, last, moment, sendFor + this.#context.timeout),
    ];
  }

  /** Whether the stock has to be read in this turn. */
  #needsRead(row: Row, others: readonly OtherWrite[] = [], removed = 0): boolean {
    const { result, petId, before, delta, readsFirst = false, basis = 0 } = row;
    const stock = this.#stock;
    const isPlain = before === undefined && delta === undefined && !readsFirst;
    if (result === 'pending' && isPlain) return false;
    if (stock === undefined || stock.older.has(petId) || stock.last < removed) return true;
    const hasOthers = others.some(({ intent }) => intent > stock.last);
    if (this.#keepsStock) return hasOthers;
    if (result !== 'pending') return this.#sentSince.has(row) || this.#isOlderThan(maxDeltaAge);
    if (delta !== undefined || readsFirst) {
      return this.#isOlderThan(maxDeltaAge) || hasOthers;
    }
    if (stock.at < this.#trustFrom || basis < removed) return true;
    // A write of unknown outcome is no conflict if the stock is as before.
    const later = laterWrites(row, { ...this.#run, others });
    return later.some(({ intent }) => intent > stock.last) && later.every(({ result }) => result === 'unknown');
  }

  #isOlderThan(ms: number): boolean {
    return this.#context.clock.monotonic() - (this.#stock?.at ?? Number.NEGATIVE_INFINITY) > ms;
  }

  /** Decides about rows, and changes those that get their outcome; notes those that have to wait. */
  #decide(
    rows: readonly Row[],
    stock: Stock | undefined,
    { others, moment, reads }: Pick<Plan, 'others' | 'moment' | 'reads'>,
    recent: ReadonlyMap<bigint, LastWrite>,
    sends: boolean,
  ): { readonly toSend: readonly ToSend[]; readonly settled: readonly Row[]; readonly isHeld: boolean } {
    const { zeros, approve } = this.#options;
    const { now } = moment;
    const toSend: ToSend[] = [];
    const settled: Row[] = [];
    let isHeld = false;
    // What was written before this read is in the stock. Only a resumed run has to know of it.
    const isReread = reads && !this.#run.isResumed;
    for (const row of rows) {
      const write = recent.get(row.petId);
      const later = others.get(row.petId) ?? [];
      const step: Step = stepOf(row, {
        ...{ others: isReread && row.result === 'pending' ? [] : later, stock: stock?.quantities },
        recent: write !== undefined && Math.abs(now - write.at) < maxReplicaLag ? write : undefined,
        ...{ isSecondRead: this.#readAgain.has(row), isResumed: this.#run.isResumed, began: this.#run.began },
        ...{ now, zeros, sends: this.#sends.get(row) ?? 0 },
        mayResend: sends && this.#context.retries > 0 && (this.#losses.get(row) ?? 0) <= 1,
      });
      if (step.kind === 'send' && approve?.(step.before, step.after) === false) isHeld = true;
      else if (step.kind === 'send') toSend.push({ row, ...step });
      else if (this.#take(row, step, moment)) settled.push(row);
    }
    return { toSend, settled, isHeld };
  }

  /** Takes a step that sends nothing. @returns whether the row has changed */
  #take(row: Row, step: Exclude<Step, { readonly kind: 'send' }>, { now, at }: Moment): boolean {
    switch (step.kind) {
      case 'wait':
        this.#later.set(row, at + step.until - now + 1);
        this.#busy = { run: this.#run.run, until: at + step.until - now };
        return false;
      case 'readAgain':
        this.#readAgain.add(row);
        this.#later.set(row, at + lagPause);
        this.#stock = undefined;
        return false;
      case 'leave':
        this.#left.add(row);
        if (!step.isUnwritten) return false;
        this.#unwritten.add(row);
        Object.assign(row, { result: 'pending', inFlightUntil: undefined });
        return true;
      default: {
        const { result, quantity, error, isOver } = step;
        const inFlightUntil = isOver || (row.inFlightUntil ?? 0) <= now ? undefined : row.inFlightUntil;
        Object.assign(row, { result, quantity, error, inFlightUntil });
        return true;
      }
    }
  }

  /** Notes what became of the rows that were to be sent. */
  #note(rows: readonly Row[], sent: Sent, was: ReadonlyMap<Row, Row>, { now }: Moment): void {
    for (const row of rows) {
      const earlier = was.get(row) ?? row;
      // An earlier request may still arrive.
      const earlierUntil = (earlier.inFlightUntil ?? 0) > now ? earlier.inFlightUntil : undefined;
      if (sent.unsent.has(row)) this.#takeBack(row, earlier, earlierUntil);
      else this.#noteSent(row, sent.lost.has(row), earlierUntil);
    }
    if (rows.length > 0) this.#keepsStock = false;
    this.#rejection ??= sent.rejection;
    this.#refusal = sent.refusal;
  }

  /** Returns a row of which nothing has left to what it was. */
  #takeBack(row: Row, { result, before, after, error }: Row, inFlightUntil: number | undefined): void {
    // A row that changes a known stock is sent again, with no request under way, only if it was not written.
    const isRefuted = result === 'unknown' && inFlightUntil === undefined && before !== undefined;
    if (isRefuted) this.#unwritten.add(row);
    const known = isRefuted ? 'pending' : result;
    Object.assign(row, { result: known, before, after, inFlightUntil, error: row.error ?? error });
  }

  #noteSent(row: Row, isLost: boolean, earlierUntil: number | undefined): void {
    this.#sends.set(row, (this.#sends.get(row) ?? 0) + 1);
    this.#sentSince.add(row);
    if (row.result === 'unknown') this.#hasUnanswered = true;
    if (isLost) this.#losses.set(row, (this.#losses.get(row) ?? 0) + 1);
    else if (row.result === 'unknown') row.inFlightUntil ??= earlierUntil;
    else row.inFlightUntil = earlierUntil;
    // The rejection is of this request only.
    if (row.result !== 'failed' || earlierUntil === undefined) return;
    row.result = 'unknown';
    this.#left.add(row);
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

  /** Waits after a failure, longer after each turn without success. @throws the failure if no time is left */
  async #pauseAfter({ error, petId, count }: NonNullable<TurnEnd['failure']>, failures: number): Promise<void> {
    const { clock, random, retries, interrupted, onDelay } = this.#context;
    const wait = waitBeforeRetry(failures + 1, random());
    if (wait >= this.#time.left) throw error;
    const others = count > 1 ? ` and ${count - 1} more` : '';
    const again = failures === 0 ? 'trying again' : `trying again (${failures} of ${retries})`;
    const hasUnknown = this.#open.some(({ result }) => result === 'unknown');
    const next = hasUnknown && !this.#open.some(({ result }) => result === 'pending') ? 'reading the stock' : again;
    const isConnected = !(error instanceof UnavailableError && error.notCarriedOut && error.status === undefined);
    const what = petId === undefined ? '' : `Pet ${petId}${others}: `;
    const why = isConnected ? `${what}${failureText(error)}; ${next}` : `No connection to the service; ${next}`;
    void onDelay(why, Math.max(1, failures));
    await this.#time.spend(() => clock.sleep(wait, interrupted));
  }

  #tellBusy(): void {
    if (this.#busy === undefined) return;
    const { run, until } = this.#busy;
    this.#busy = undefined;
    const seconds = Math.ceil((until - this.#context.clock.monotonic()) / 1000);
    if (seconds <= 1 || until <= this.#toldUntil + busyPause) return;
    this.#toldUntil = until;
    const whose = run === this.#run.run ? 'this run' : `run ${run}`;
    void this.#context.onDelay(`A request of ${whose} may still reach the service; continuing in ${seconds} s`);
  }
}

interface ToSend {
  readonly row: Row;
  readonly before: number | undefined;
  readonly after: number;
}

/** The reason of a wait that ends because the process is about to be stopped. */
const suspended = new Error('The process is being stopped');

/** The time that requests, and pauses between them, may take altogether. */
class TimeBudget {
  readonly #clock: Clock;
  left: number;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.left = ms;
  }

  async spend<Result>(work: () => Promise<Result>, began = this.#clock.monotonic()): Promise<Result> {
    try {
      return await work();
    } finally {
      this.left -= this.#clock.monotonic() - began;
    }
  }
}

function hasSucceeded({ result }: Row): boolean {
  return result === 'applied' || result === 'unchanged' || result === 'pending';
}

/** Reports whether `work` ends within `ms`. */
function isOverWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const deadline = clock.deadline(ms, () => resolve(false));
    void work.finally(() => {
      deadline.clear();
      resolve(true);
    });
  });
}

/** Whether the stock can probably still be read after this error has ended the run. */
function isReadable(error: unknown): boolean {
  if (error instanceof NonRetryableError) return false;
  return error instanceof UnavailableError || classifyFailure(error).isReadable;
}
