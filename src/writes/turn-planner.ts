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
import { lagPause, olderBecauseOf, type Stock } from './stock.ts';
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
  /** For the requests, in their order. A read takes the first. */
  readonly permits: Permit[];
  readonly reads: boolean;
  /** Set if the limit admitted nothing: when to ask again. */
  readonly retry?: { readonly at: number | undefined } | undefined;
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

/** What this process has done with a row. */
interface Tries {
  /** How often it was sent. */
  sends: number;
  /** How often no answer came. */
  losses: number;
  /** The stock that was known when it was last sent, and that does not show this write. */
  sentAfter: Stock | undefined;
  /** When to look again at the row, by the monotonic clock. */
  dueAt: number;
  /** Whether its stock may have come from a replica that is behind, so that it is read a second time. */
  isReadAgain: boolean;
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
  /** The rows that may still be sent, or decided about. */
  readonly #open: Set<Row>;
  /** Those of rows that were looked at and are open. */
  readonly #tries = new Map<Row, Tries>();
  /** Rows that were sent and certainly not carried out. */
  readonly unwritten = new Set<Row>();
  /** Whether the outcome of a request was not known when it ended. */
  hasUnanswered = false;
  /** How many more rows may be sent that bring a stock to 0, besides those in the plan. */
  #zerosLeft: number;
  /** The stock that was last read, and the one that was known when a row was last sent. */
  #stock: Stock | undefined;
  #sentAfter: Stock | undefined;
  /** Whether a longer pause has passed since, so that a quantity may no longer rely on it. */
  #isOutdated = false;
  /** Whether the limit has again admitted only the read of a turn: the next turn relies on it, however old it is. */
  #isKept = false;
  /** Whether a stock was read for rows that the limit then held back. If it admits one request at a time, once must do. */
  #hasReread: boolean;
  /** When a turn has last used the stock, by the monotonic clock. */
  #usedAt: number;
  /** Whether rows may be sent; otherwise the stock is only read back. */
  #maySend = true;
  /** How many rows the next turn may have. */
  #size: number;
  /** Which run's requests are awaited, and until when, by the monotonic clock. */
  #busy: { readonly run: string; readonly until: number } | undefined;
  #toldUntil = 0;

  constructor(run: OpenRun, context: WriteContext, options: ExecuteOptions) {
    this.#run = run;
    this.#context = context;
    this.#options = options;
    this.#zerosLeft = options.zerosLeft;
    // Rows that no process has sent come first, so that those that fail each time hold up no others.
    this.#open = new Set(run.rows.filter(isOpen).toSorted((a, b) => (a.intent ?? 0) - (b.intent ?? 0)));
    this.#stock = options.stock;
    this.#usedAt = options.stock?.at ?? Number.NEGATIVE_INFINITY;
    this.#size = 2 * options.concurrency;
    this.#hasReread = options.stock !== undefined;
  }

  /** The rows that may still be sent, or decided about. */
  get open(): readonly Row[] {
    return [...this.#open].filter(isOpen);
  }

  /** Whether no row may be sent again. */
  get isUsedUp(): boolean {
    return this.open.every((row) => row.result === 'unknown' && this.#areTriesUsed(row));
  }

  #areTriesUsed(row: Row): boolean {
    return (this.#tries.get(row)?.sends ?? 0) > this.#context.retries;
  }

  /** Ends the sending: leaves only rows of unknown outcome, to be decided by the stock, and returns them. */
  endSending(): readonly Row[] {
    this.#maySend = false;
    for (const row of this.#open) if (row.result !== 'unknown') this.#open.delete(row);
    return [...this.#open];
  }

  /** The stock that was read after the last request; undefined if none was. */
  get stockSince(): Stock | undefined {
    return this.#sentAfter === this.#stock ? undefined : this.#stock;
  }

  /** Takes over a stock that was read. */
  takeStock(stock: Stock): void {
    this.#stock = stock;
    this.#isOutdated = false;
  }

  /** Notes that a turn begins. After a longer pause, rows without a delta no longer rely on an earlier stock. */
  beginTurn(): void {
    this.#isOutdated ||= this.#context.clock.monotonic() - this.#usedAt > maxPause;
  }

  /** Notes that the limit has admitted what a turn had to send. */
  noteAdmitted(): void {
    this.#usedAt = this.#context.clock.monotonic();
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
      if (!isOpen(row)) {
        this.#open.delete(row);
        this.#tries.delete(row);
      } else if (isChosen(row)) {
        const due = this.#tries.get(row)?.dueAt ?? at;
        earliest = Math.min(earliest ?? due, due);
        if (due <= at && rows.push(row) === this.#size) break;
      }
    }
    return { rows, earliest };
  }

  #triesOf(row: Row): Tries {
    const known = this.#tries.get(row);
    if (known !== undefined) return known;
    const tries = { sends: 0, losses: 0, sentAfter: undefined, dueAt: 0, isReadAgain: false };
    this.#tries.set(row, tries);
    return tries;
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
    return Math.min(this.#stock?.last ?? Number.MAX_SAFE_INTEGER, ...known);
  }

  /** Step 1, within its transaction. */
  plan(
    rows: readonly Row[],
    [counters, limited, underWay = [], ...written]: Answers,
    moment: Moment,
  ): Decided<TurnPlan> {
    const { last, removed } = countersOf(counters);
    const others = groupByPet([...underWay, ...written.flat()].map(otherWriteOf));
    const inFlight = [...others.values()].flat().filter(({ inFlightUntil = 0 }) => inFlightUntil > moment.now);
    const older = olderBecauseOf(inFlight, last);
    this.#postpone(inFlight, moment);
    const free = rows.filter(({ petId }) => !older.has(petId));
    const reads = free.some((row) => this.needsRead(row, others.get(row.petId), removed));
    const facts = { reads, others, older, last, moment };
    if (free.length === 0) return { writes: [], result: { ...facts, rows: [], permits: [] } };
    const { toSend, settled } = reads ? nothing : this.#decide(free, facts, new Map());
    // A probe admits only the read; so does a read back.
    const max = reads ? (this.#maySend ? free.length + 1 : 1) : toSend.length;
    const min = reads && this.#maySend ? 2 : 1;
    const admission = max === 0 ? noPermits : this.#context.limits.admit(limited?.[0], moment, { min, max });
    const permits = [...admission.permits];
    const retry = max > 0 && permits.length === 0 ? { at: admission.retryAt } : undefined;
    const now = toSend.slice(0, permits.length);
    return {
      writes: [...this.#rowWrites(now, settled, last, moment), ...admission.writes],
      result: { ...facts, retry, permits, rows: reads ? free : now.map(({ row }) => row) },
    };
  }

  /** Leaves the rows of pets to which requests of other runs may be under way to a later turn. */
  #postpone(inFlight: readonly OtherWrite[], { now, at }: Moment): void {
    const busy = new Map(inFlight.map((write) => [write.petId, write]));
    for (const row of busy.size === 0 ? [] : this.#open) {
      const { run = '', inFlightUntil = 0 } = busy.get(row.petId) ?? {};
      if (inFlightUntil === 0) continue;
      this.#triesOf(row).dueAt = at + Math.min(inFlightUntil - now, busyPause);
      this.#busy = { run, until: at + inFlightUntil - now };
    }
  }

  questionsAfterRead(rows: readonly Row[]): Statement[] {
    const { limits, mayLag } = this.#context;
    const { service } = this.#run;
    const pets = rows.map(({ petId }) => petId);
    return [lastIntent(service), limits.reading, ...(mayLag ? lastWritten(service, pets) : [])];
  }

  /** Step 2, within its transaction: nothing is sent if an intent was recorded since, because the lock has failed. */
  planAfterRead(plan: TurnPlan, [counters, limited, ...recent]: Answers, moment: Moment): Decided<TurnPlan> {
    const { limits } = this.#context;
    const { last } = countersOf(counters);
    if (last !== plan.last) return { writes: [], result: { ...plan, rows: [], moment } };
    const writes = new Map(
      recent
        .flat()
        .map(lastWriteOf)
        .map((write) => [write.petId, write]),
    );
    const { toSend, settled } = this.#decide(plan.rows, { ...plan, moment }, writes);
    const missing = toSend.length - plan.permits.length;
    // A probe had admitted only the read.
    const more = missing > 0 ? limits.admit(limited?.[0], moment, { min: 1, max: missing }) : undefined;
    const permits = [...plan.permits, ...(more?.permits ?? [])];
    const now = toSend.slice(0, permits.length);
    const isHeldBack = toSend.length > 0 && now.length === 0;
    this.#isKept = isHeldBack && this.#hasReread;
    this.#hasReread ||= isHeldBack;
    return {
      writes: [
        ...this.#rowWrites(now, settled, last, moment),
        ...(more?.writes ?? limits.record(limited?.[0], moment)),
      ],
      result: { ...plan, rows: now.map(({ row }) => row), permits, moment },
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
    const stock = this.#stock;
    const isPlain = before === undefined && delta === undefined && !readsFirst;
    if (result === 'pending' && isPlain) return false;
    if (stock === undefined || stock.older.has(petId) || stock.last < removed) return true;
    const hasOthers = others.some(({ intent }) => intent > stock.last);
    if (this.#isKept) return hasOthers;
    const isOld = this.#context.clock.monotonic() - stock.at > maxDeltaAge;
    if (result !== 'pending') return hasOthers || isOld || this.#tries.get(row)?.sentAfter === stock;
    if (delta !== undefined || readsFirst) return isOld || hasOthers;
    if (this.#isOutdated || basis < removed) return true;
    // A write of unknown outcome is no conflict if the stock is as before.
    const later = laterWrites(row, { ...this.#run, others });
    return later.some(({ intent }) => intent > stock.last) && later.every(({ result }) => result === 'unknown');
  }

  /** Decides about rows, and changes those that get their outcome; notes those that have to wait. */
  #decide(
    rows: readonly Row[],
    { others, moment, reads }: Pick<TurnPlan, 'others' | 'moment' | 'reads'>,
    recent: ReadonlyMap<bigint, LastWrite>,
  ): { readonly toSend: readonly ToSend[]; readonly settled: readonly Row[] } {
    const { isResumed, began } = this.#run;
    const { now } = moment;
    // One stock for all rows: a row that has to be read again lets go of it.
    const stock = this.#stock;
    const toSend: ToSend[] = [];
    const settled: Row[] = [];
    // Not all of these rows may get a permit in this turn, so they count for good only once they are sent.
    let zerosLeft = this.#zerosLeft;
    // What was written before this read is in the stock. Only a resumed run has to know of it.
    const isReread = reads && !isResumed;
    for (const row of rows) {
      const write = recent.get(row.petId);
      const { sends = 0, losses = 0, isReadAgain = false } = this.#tries.get(row) ?? {};
      const step = stepOf(row, {
        others: isReread && row.result === 'pending' ? [] : (others.get(row.petId) ?? []),
        recent: write !== undefined && isRecent(write, now) ? write : undefined,
        ...{ stock: stock?.quantities, since: stock?.since ?? now },
        ...{ isSecondRead: isReadAgain, isResumed, began, zerosLeft, sends },
        mayResend: this.#maySend && this.#context.retries > 0 && losses <= 1 && !this.#areTriesUsed(row),
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
        this.#triesOf(row).dueAt = at + step.until - now + 1;
        this.#busy = { run: this.#run.run, until: at + step.until - now };
        this.#stock = undefined;
        return false;
      case 'readAgain':
        Object.assign(this.#triesOf(row), { isReadAgain: true, dueAt: at + lagPause });
        this.#stock = undefined;
        return false;
      case 'leave':
        this.#open.delete(row);
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
    if (rows.length > 0) this.#isKept = false;
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
    const tries = this.#triesOf(row);
    tries.sends += 1;
    if (isLost) tries.losses += 1;
    tries.sentAfter = this.#sentAfter = this.#stock;
    this.#zerosLeft -= newZeros(earlier, row);
    if (row.result === 'unknown') {
      this.hasUnanswered = true;
      row.inFlightUntil ??= earlierUntil;
      // The next turn begins with others.
      this.#open.delete(row);
      this.#open.add(row);
      return;
    }
    row.inFlightUntil = earlierUntil;
    // The rejection is of this request only. One before may arrive, or have arrived if no stock was known before it.
    const isDoubtful = earlier.result === 'unknown' && (earlierUntil !== undefined || earlier.before === undefined);
    if (row.result !== 'failed' || !isDoubtful) return;
    row.result = 'unknown';
    this.#open.delete(row);
  }
}

const nothing = { toSend: [], settled: [] };
const noPermits = { permits: [], writes: [], retryAt: undefined };
