import type { Permit } from '../rate-limit/permits.ts';
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
import type { Decided, Moment } from '../state/state-store.ts';
import type { Answers, Statement } from '../state/statements.ts';
import { groupByPet, isRecent, laterWrites, type Step, stepOf } from './rows.ts';
import type { Sent } from './send-rows.ts';
import { lagPause, type Stock } from './stock.ts';
import type { ExecuteOptions, WriteContext } from './write-context.ts';

/** The most rows of one turn, and how long their requests should take, in milliseconds: others wait meanwhile. */
const turnSize = { most: 512, lasts: 500 };
/** How long a turn may send, in milliseconds. Requests that are then under way are awaited without the turn. */
export const sendFor = 3000;
/** Pause before looking again at a pet that another run is writing, in milliseconds. */
const busyPause = 250;
/** The oldest stock that a delta is added to, in milliseconds. */
const maxDeltaAge = 2000;
/** The longest pause after which a quantity may still rely on an earlier stock, in milliseconds. */
const maxPause = 5000;

/** What a turn does. */
export interface TurnPlan {
  /** The rows to send; if the stock is to be read first, those to decide about. */
  readonly rows: readonly Row[];
  readonly reads: boolean;
  /** Set if the limit admitted nothing: when to ask again. */
  readonly retry: { readonly at: number | undefined } | undefined;
  readonly others: ReadonlyMap<bigint, readonly OtherWrite[]>;
  readonly older: Stock['older'];
  readonly last: number;
  readonly moment: Moment;
}

interface ToSend {
  readonly row: Row;
  readonly before: number | undefined;
  readonly after: number;
}

/** Returns 1 if a row is sent with 0 although it was to leave something, otherwise 0. */
function newZeros(earlier: Pick<Row, 'after'>, sent: Pick<Row, 'after'>): 0 | 1 {
  return earlier.after > 0 && sent.after === 0 ? 1 : 0;
}

/**
 * Plans the turns of a run: which rows, whether the stock has to be read, which are sent. It knows what this process has
 * done with each row, and sends and waits for nothing itself.
 */
export class TurnPlanner {
  readonly #run: OpenRun;
  readonly #context: WriteContext;
  readonly #options: ExecuteOptions;
  readonly #open: Set<Row>;
  /** When to look again at a row, by the monotonic clock. */
  readonly #later = new Map<Row, number>();
  /** Rows that stay as they are. */
  readonly left = new Set<Row>();
  /** Rows that were sent and certainly not carried out. */
  readonly unwritten = new Set<Row>();
  /** How often each row was sent, and how often no answer came. */
  readonly #sends = new Map<Row, number>();
  readonly #losses = new Map<Row, number>();
  /** How many more rows may be sent that bring a stock to 0, besides those in the plan. */
  #zerosLeft: number;
  /** Rows that were sent after the stock was read. */
  readonly #sentSince = new Set<Row>();
  /** Rows whose stock may have come from a replica that is behind. */
  readonly #readAgain = new Set<Row>();
  /** The stock that was last read. */
  stock: Stock | undefined;
  /** Whether the outcome of a request was not known when it ended. */
  hasUnanswered = false;
  /** A stock that was read before this is too old for a row without a delta, by the monotonic clock. */
  #trustFrom = Number.NEGATIVE_INFINITY;
  /** When a turn was last admitted, by the monotonic clock. */
  #lastTurnAt: number;
  /** Whether the limit has admitted only the read of a turn: the next turn relies on it, however old it is. */
  #keepsStock = false;
  /** Whether the stock was read again after a wait for the limit. If that admits one request at a time, once must do. */
  #hasReread: boolean;
  /** How many rows the next turn may have. */
  #size: number;
  #busy: { readonly run: string; readonly until: number } | undefined;
  #toldUntil = 0;

  constructor(run: OpenRun, context: WriteContext, options: ExecuteOptions) {
    this.#run = run;
    this.#context = context;
    this.#options = options;
    this.#zerosLeft = options.zerosLeft;
    this.#open = new Set(run.rows.filter(isOpen));
    this.stock = options.stock;
    this.#lastTurnAt = options.stock?.at ?? Number.NEGATIVE_INFINITY;
    this.#size = 2 * options.concurrency;
    this.#hasReread = options.stock !== undefined;
  }

  /** The rows that may still be sent, or decided about. */
  get open(): readonly Row[] {
    return [...this.#open].filter((row) => this.#isOpen(row));
  }

  /** Leaves only rows of unknown outcome, and returns them. */
  keepUnknown(): readonly Row[] {
    const unknown = this.open.filter(({ result }) => result === 'unknown');
    this.#open.clear();
    for (const row of unknown) this.#open.add(row);
    return unknown;
  }

  /** Whether a row that was sent did not succeed. */
  get hasFailed(): boolean {
    return [...this.#sends.keys()].some(({ result }) => !['applied', 'unchanged', 'pending'].includes(result));
  }

  /** The stock that was read after the last request; undefined if none was. */
  get stockSince(): Stock | undefined {
    return this.#sentSince.size === 0 ? this.stock : undefined;
  }

  /** Takes over a stock that was read. */
  takeStock(stock: Stock): void {
    this.stock = stock;
    this.#sentSince.clear();
  }

  /** Notes that a turn begins. After a longer pause, rows without a delta no longer rely on an earlier stock. */
  beginTurn(): void {
    const at = this.#context.clock.monotonic();
    if (at - this.#lastTurnAt > maxPause) this.#trustFrom = at;
  }

  /** Notes that the limit has admitted what a turn had to send. */
  noteAdmitted(): void {
    this.#lastTurnAt = this.#context.clock.monotonic();
  }

  /** Makes the next turn as large as may be sent in time. */
  resize(count: number, ms: number): void {
    const { concurrency } = this.#options;
    if (count < concurrency) return;
    const rounds = Math.floor((count * turnSize.lasts) / Math.max(1, ms) / concurrency);
    this.#size = Math.min(Math.max(1, rounds) * concurrency, 4 * count, turnSize.most);
  }

  /**
   * Returns why rows have to wait, as a sentence without a period, and how long, in milliseconds; undefined if that was
   * told, or is not worth it.
   */
  takeBusy(): { readonly text: string; readonly ms: number } | undefined {
    if (this.#busy === undefined) return undefined;
    const { run, until } = this.#busy;
    this.#busy = undefined;
    const ms = until - this.#context.clock.monotonic();
    const seconds = Math.ceil(ms / 1000);
    if (seconds <= 1 || until <= this.#toldUntil + busyPause) return undefined;
    this.#toldUntil = until;
    const whose = run === this.#run.run ? 'this run' : `run ${run}`;
    return { text: `A request of ${whose} may still reach the service; continuing in ${seconds} s`, ms };
  }

  /** Returns the rows of the next turn; none and a wait if all have to wait; neither if nothing is left to do. */
  next(): { readonly rows: readonly Row[]; readonly wait: number | undefined } {
    const pending = this.#due((row) => row.result === 'pending');
    // Rows of unknown outcome come last, so that one read of the stock decides about all of them.
    const { rows, earliest } = pending.earliest === undefined ? this.#due(() => true) : pending;
    const isWaiting = rows.length === 0 && earliest !== undefined;
    return { rows, wait: isWaiting ? Math.max(1, earliest - this.#context.clock.monotonic()) : undefined };
  }

  /**
   * Returns the next rows that are due, and when the first of the chosen ones is or was. Stops at the size of a turn, so
   * that the turns of a long run don't look at all of it each time.
   */
  #due(isChosen: (row: Row) => boolean): { readonly rows: readonly Row[]; readonly earliest: number | undefined } {
    const at = this.#context.clock.monotonic();
    const rows: Row[] = [];
    let earliest: number | undefined;
    for (const row of this.#open) {
      if (!this.#isOpen(row)) this.#open.delete(row);
      else if (isChosen(row)) {
        const due = this.#later.get(row) ?? at;
        earliest = Math.min(earliest ?? due, due);
        if (due <= at && rows.push(row) === this.#size) break;
      }
    }
    return { rows, earliest };
  }

  #isOpen(row: Row): boolean {
    return isOpen(row) && !this.left.has(row);
  }

  questions(rows: readonly Row[]): Statement[] {
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
    return Math.min(this.stock?.last ?? Number.MAX_SAFE_INTEGER, ...known);
  }

  /** Step 1, within its transaction. */
  plan(
    rows: readonly Row[],
    [counters, limited, underWay = [], ...written]: Answers,
    moment: Moment,
    permits: Permit[],
    sends: boolean,
  ): Decided<TurnPlan> {
    const { last, removed } = countersOf(counters);
    const others = groupByPet([...underWay, ...written.flat()].map(otherWriteOf));
    const { busy, older } = this.#busyPets(others, last, moment);
    const free = rows.filter(({ petId }) => !busy.has(petId));
    const reads = free.some((row) => this.needsRead(row, others.get(row.petId), removed));
    const facts = { others, older, last, moment, reads };
    const steps = reads ? undefined : this.#decide(free, this.stock, facts, new Map(), sends);
    const wanted = steps?.toSend.length ?? free.length + 1;
    // A probe admits only the read; so does a read back.
    const count = { min: reads && sends ? 2 : 1, max: reads && !sends ? 1 : wanted } as const;
    const admission = wanted === 0 || free.length === 0 ? undefined : this.#admit(limited, moment, count, permits);
    const retry = admission !== undefined && permits.length === 0 ? { at: admission.retryAt } : undefined;
    const toSend = steps?.toSend.slice(0, permits.length) ?? [];
    const writes = [...this.#rowWrites(toSend, steps?.settled ?? [], last, moment), ...(admission?.writes ?? [])];
    const sent = toSend.map(({ row }) => row);
    return { writes, result: { ...facts, retry, rows: reads ? free : sent } };
  }

  #admit(limited: Answers[number] | undefined, moment: Moment, count: { min: 1 | 2; max: number }, permits: Permit[]) {
    permits.length = 0;
    const admission = this.#context.limits.admit(limited?.[0], moment, count);
    permits.push(...admission.permits);
    return admission;
  }

  /** Finds the pets to which requests of other runs may be under way, and leaves their rows to a later turn. */
  #busyPets(others: TurnPlan['others'], last: number, { now, at }: Moment) {
    const busy = new Map<bigint, number>();
    const older = new Map<bigint, number>();
    const runs = new Map<bigint, string>();
    for (const { petId, run, intent, inFlightUntil = 0 } of [...others.values()].flat()) {
      if (inFlightUntil <= now) continue;
      busy.set(petId, Math.max(inFlightUntil, busy.get(petId) ?? 0));
      older.set(petId, Math.min(intent - 1, older.get(petId) ?? last));
      runs.set(petId, run);
    }
    for (const row of busy.size === 0 ? [] : this.#open) {
      const until = busy.get(row.petId);
      if (until === undefined) continue;
      this.#later.set(row, at + Math.min(until - now, busyPause));
      this.#busy = { run: runs.get(row.petId) ?? '', until: at + until - now };
    }
    return { busy, older };
  }

  questionsAfterRead(rows: readonly Row[]): Statement[] {
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
  planAfterRead(
    plan: TurnPlan,
    [counters, limited, ...recent]: Answers,
    moment: Moment,
    permits: Permit[],
    sends: boolean,
  ): Decided<TurnPlan> {
    const { limits } = this.#context;
    const { last } = countersOf(counters);
    if (last !== plan.last) return { writes: [], result: { ...plan, rows: [], moment } };
    const writes = new Map(
      recent
        .flat()
        .map(lastWriteOf)
        .map((write) => [write.petId, write]),
    );
    const { toSend, settled } = this.#decide(plan.rows, this.stock, plan, writes, sends);
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
      result: { ...plan, rows: now.map(({ row }) => row), moment },
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
  needsRead(row: Row, others: readonly OtherWrite[] = [], removed = 0): boolean {
    const { result, petId, before, delta, readsFirst = false, basis = 0 } = row;
    const stock = this.stock;
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
    return this.#context.clock.monotonic() - (this.stock?.at ?? Number.NEGATIVE_INFINITY) > ms;
  }

  /** Decides about rows, and changes those that get their outcome; notes those that have to wait. */
  #decide(
    rows: readonly Row[],
    stock: Stock | undefined,
    { others, moment, reads }: Pick<TurnPlan, 'others' | 'moment' | 'reads'>,
    recent: ReadonlyMap<bigint, LastWrite>,
    sends: boolean,
  ): { readonly toSend: readonly ToSend[]; readonly settled: readonly Row[] } {
    const { now } = moment;
    const toSend: ToSend[] = [];
    const settled: Row[] = [];
    // Not all of these rows may get a permit in this turn, so they count for good only once they are sent.
    let zerosLeft = this.#zerosLeft;
    // What was written before this read is in the stock. Only a resumed run has to know of it.
    const isReread = reads && !this.#run.isResumed;
    for (const row of rows) {
      const write = recent.get(row.petId);
      const later = others.get(row.petId) ?? [];
      const step: Step = stepOf(row, {
        ...{ others: isReread && row.result === 'pending' ? [] : later, stock: stock?.quantities },
        recent: write !== undefined && isRecent(write, now) ? write : undefined,
        ...{ isSecondRead: this.#readAgain.has(row), isResumed: this.#run.isResumed, began: this.#run.began },
        ...{ now, zerosLeft, sends: this.#sends.get(row) ?? 0 },
        mayResend: sends && this.#context.retries > 0 && (this.#losses.get(row) ?? 0) <= 1,
      });
      if (step.kind === 'send') {
        toSend.push({ row, ...step });
        zerosLeft -= newZeros(row, step);
      } else if (this.#take(row, step, moment)) settled.push(row);
    }
    return { toSend, settled };
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
        this.stock = undefined;
        return false;
      case 'leave':
        this.left.add(row);
        if (!step.isUnwritten) return false;
        this.unwritten.add(row);
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
  note(rows: readonly Row[], sent: Sent, was: ReadonlyMap<Row, Row>, { now }: Moment): void {
    for (const row of rows) {
      const earlier = was.get(row) ?? row;
      // An earlier request may still arrive.
      const earlierUntil = (earlier.inFlightUntil ?? 0) > now ? earlier.inFlightUntil : undefined;
      if (sent.unsent.has(row)) this.#takeBack(row, earlier, earlierUntil);
      else this.#noteSent(row, earlier, sent.lost.has(row), earlierUntil);
    }
    if (rows.length > 0) this.#keepsStock = false;
  }

  /** Returns a row of which nothing has left to what it was. */
  #takeBack(row: Row, { result, before, after, error }: Row, inFlightUntil: number | undefined): void {
    // A row that changes a known stock is sent again, with no request under way, only if it was not written.
    const isRefuted = result === 'unknown' && inFlightUntil === undefined && before !== undefined;
    if (isRefuted) this.unwritten.add(row);
    const known = isRefuted ? 'pending' : result;
    Object.assign(row, { result: known, before, after, inFlightUntil, error: row.error ?? error });
  }

  #noteSent(row: Row, earlier: Row, isLost: boolean, earlierUntil: number | undefined): void {
    this.#sends.set(row, (this.#sends.get(row) ?? 0) + 1);
    this.#zerosLeft -= newZeros(earlier, row);
    this.#sentSince.add(row);
    if (row.result === 'unknown') this.hasUnanswered = true;
    if (isLost) this.#losses.set(row, (this.#losses.get(row) ?? 0) + 1);
    else if (row.result === 'unknown') row.inFlightUntil ??= earlierUntil;
    else row.inFlightUntil = earlierUntil;
    // The rejection is of this request only. One before may arrive, or have arrived if no stock was known before it.
    const isDoubtful = earlier.result === 'unknown' && (earlierUntil !== undefined || earlier.before === undefined);
    if (row.result !== 'failed' || !isDoubtful) return;
    row.result = 'unknown';
    this.left.add(row);
  }
}
