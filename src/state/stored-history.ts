import { ConflictError } from '../shared/errors.ts';
import { beginning } from './begin-run.ts';
import { removableRuns } from './decide.ts';
import type { PlannedRow, RunHead, RunRecord } from './history.ts';
import { type HistoryContext, HistoryReader, noSuchRun } from './history-reader.ts';
import type { Living } from './processes-present.ts';
import { runColumns } from './records.ts';
import { removing } from './remove-runs.ts';
import { type BegunRun, begunRunIn, selectBegun } from './settle-rows.ts';
import { type Moment, statement, uniqueName, type Work } from './store.ts';
import { RunLog } from './stored-run-log.ts';

/** Old runs that one command removes on its way out. */
const maxOld = 20;

/**
 * The history of writes.
 *
 * All methods throw FailureError if the state can't be read or written.
 */
export class History extends HistoryReader {
  readonly #host: string;
  readonly #open = new Map<string, RunLog>();
  #hasEnded = false;

  constructor(context: HistoryContext, host: string) {
    super(context);
    this.#host = host;
  }

  /**
   * Begins a run. It and its rows are durable when this resolves; nothing has been sent.
   * @param rows in the order of the plan; asked for again if the database was lost meanwhile
   * @param mayBegin throws if the run may not begin; returns the newest run of the same content that it knows of. It is asked again if another
   *   one has begun since
   */
  async begin(
    head: RunHead,
    rows: Iterable<PlannedRow>,
    mayBegin?: () => Promise<string | undefined>,
  ): Promise<RunLog> {
    const { presence, random } = this.context;
    for (;;) {
      const follows = mayBegin && { run: await mayBegin() };
      const run = { head, host: this.#host, holder: presence.id, token: uniqueName(), random: random(), follows };
      const begun = await presence.hold('durable', head.service, (at) => beginning(at, run, rows));
      if (begun !== undefined) return this.#log({ ...begun, serviceName: head.service, undoes: head.undoes });
    }
  }

  /**
   * Takes over a run whose process is gone.
   * @param run a whole id
   * @throws ConflictError while another process has it
   */
  async resume(run: string): Promise<RunLog> {
    const { presence } = this.context;
    if (this.#open.has(run)) throw goingOn(run, undefined);
    const { service } = await this.run(run);
    let expected: number | undefined;
    for (;;) {
      const taken = await presence.hold('durable', service, (at) => this.#taking(at, run));
      if (taken.kind === 'gone') throw noSuchRun(run);
      if (taken.kind === 'taken') return this.#log(taken.run);
      // Renewed meanwhile: it lives.
      const isAlive = taken.ends === undefined || taken.ends > (expected ?? taken.ends);
      if (isAlive || taken.ends === undefined) throw goingOn(run, { by: taken.by, living: taken.living });
      await this.#waitFor(run, taken.ends, expected !== undefined);
      expected = taken.ends;
    }
  }

  /**
   * Removes runs, oldest first, and gives their space back. Those stay that a process is writing, and those that another run relies on: see
   * `removableRuns`. Runs that could be resumed go with the rest.
   * @returns the ids of those that were removed
   */
  async remove(runs: readonly string[]): Promise<readonly string[]> {
    const { store } = this.context;
    const wanted = new Set(runs);
    const all: RunRecord[] = [];
    for await (const record of this.runs()) all.push(record);
    const services = new Map(all.map(({ run, service }) => [run, service]));
    const removed: string[] = [];
    for (const run of removableRuns(all, wanted).reverse()) {
      const isGone = await store.transact('quick', services.get(run), (at) =>
        removing(at, this.context.presence, run, wanted),
      );
      if (isGone) removed.push(run);
    }
    if (removed.length > 0) await store.reclaim();
    return removed;
  }

  /**
   * Removes up to 20 runs that began before a moment, from the oldest on, if a run of this process has ended.
   * @param before milliseconds since the Unix epoch
   */
  async removeOld(before: number): Promise<void> {
    if (!this.#hasEnded) return;
    const { store, presence } = this.context;
    const [rows = []] = await store.ask(
      statement(
        `SELECT ${runColumns} FROM petstock.runs WHERE pending + unknown = 0 AND at < ? ORDER BY sequence LIMIT ${maxOld}`,
        store.wallOf(before),
      ),
    );
    let isAny = false;
    for (const { run, service_name } of rows) {
      const [id, service] = [String(run), String(service_name)];
      if (!(await store.transact('quick', service, (at) => removing(at, presence, id, new Set())))) break;
      isAny = true;
    }
    if (isAny) await store.reclaim({ isBrief: true });
  }

  /** Writes out what the logs of this process hold. They are not ended: their runs may be resumed. */
  async flush(): Promise<void> {
    for (const log of this.#open.values()) await log.flush();
  }

  *#taking(at: Moment, run: string): Work<TakenOver> {
    const { presence } = this.context;
    const [[row] = []] = yield [statement(`${selectBegun} WHERE run = ?`, run)];
    if (row === undefined) return { kind: 'gone' };
    const begun = begunRunIn(row);
    const { holder } = begun;
    const living = yield* presence.aliveAmong(at, holder === undefined ? [] : [holder]);
    if (holder !== undefined && holder !== presence.id && living.has(holder)) {
      return { kind: 'held', by: holder, living, ends: living.endsElsewhere(holder) };
    }
    at.writes.push(statement('UPDATE petstock.runs SET holder = ? WHERE id = ?', presence.id, begun.id));
    return { kind: 'taken', run: begun };
  }

  /** A process of another start of the machine may be gone with it, or live in a container beside us: its lease says which. */
  async #waitFor(run: string, ends: number, isSaid: boolean): Promise<void> {
    const { clock, store, warn } = this.context;
    const rest = Math.max(0, store.time.localLatest(ends) - clock.monotonic());
    if (!isSaid) {
      warn(
        `Run ${run} was last written before this machine was started, or in a container: waiting up to ${Math.ceil(rest / 1000)} s to be sure that its process has ended`,
      );
    }
    await clock.sleep(Math.min(1000, rest + 1));
  }

  #log(begun: BegunRun): RunLog {
    const log = new RunLog(this.context, begun, () => {
      this.#open.delete(begun.run);
      this.#hasEnded = true;
    });
    this.#open.set(begun.run, log);
    return log;
  }
}

type TakenOver =
  | { readonly kind: 'gone' }
  | { readonly kind: 'taken'; readonly run: BegunRun }
  | { readonly kind: 'held'; readonly by: string; readonly living: Living; readonly ends: number | undefined };

function goingOn(run: string, holder: { readonly by: string; readonly living: Living } | undefined): ConflictError {
  const by = holder === undefined ? 'this process' : (holder.living.nameOf(holder.by) ?? 'another process');
  return new ConflictError(`Run ${run} is still running in ${by}`, { hint: `petstock history show ${run}` });
}
