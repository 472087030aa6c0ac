import type { Client } from '../api/client.ts';
import { type BulkCounts, type BulkRow, type Change, countRows } from '../inventory/change.ts';
import { guardFaults, planChanges } from '../inventory/plan.ts';
import { ConflictError, InterruptedError, type PetstockError, UsageError } from '../shared/errors.ts';
import type { RunHead } from '../state/history.ts';
import type { State } from '../state/state.ts';
import { planUndo, undoablePets } from '../writes/plan-undo.ts';
import { commonReason, numberRows, plannedRows } from '../writes/planned-rows.ts';
import { rowAfter, rowWrites } from '../writes/rows-after.ts';
import { runErrorOf } from '../writes/run-error.ts';
import { createStockReader, type PlanStock, type StockReader } from '../writes/stock-reader.ts';
import { writeRows } from '../writes/write-rows.ts';
import { countOf } from './arguments.ts';
import type { LibraryConnection } from './open-connection.ts';
import { type ChangeInput, readChanges } from './read-changes.ts';
import { userName } from './user-name.ts';

export interface ApplyOptions {
  /** Plans and writes nothing. */
  readonly dryRun?: boolean | undefined;
  /** Refuse the whole plan where it writes more rows, or sets more to 0 or below. */
  readonly maxChanges?: number | undefined;
  readonly maxZero?: number | undefined;
  /** Begin no row after one that was not applied. */
  readonly failFast?: boolean | undefined;
  /** Requests in flight at once: 4. */
  readonly concurrency?: number | undefined;
  /** Finishes what is in flight; rows that were not begun are `notAttempted`. */
  readonly signal?: AbortSignal | undefined;
}

/** What became of a run. */
export interface RunReport {
  /** Its id in the history; undefined where nothing was to be written. */
  readonly run: string | undefined;
  readonly dryRun: boolean;
  /** `line` counts the changes from 1; of an undo it is the row of the run. */
  readonly rows: readonly BulkRow[];
  readonly counts: BulkCounts;
  /** Why not every row is as it should be; undefined where all is well. */
  readonly error: PetstockError | undefined;
}

/** What a run works with. */
export interface RunContext {
  readonly connection: LibraryConnection;
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** A plan that is written. */
interface PlannedRun {
  readonly rows: readonly BulkRow[];
  readonly stock: PlanStock;
  readonly reader: StockReader;
  readonly state: State;
  readonly subject: Pick<RunHead, 'command' | 'undoes' | 'hasDeltas'>;
}

const staleAfter = 5000;

export async function applyChanges(
  context: RunContext,
  inputs: Iterable<ChangeInput>,
  options: ApplyOptions,
): Promise<RunReport> {
  const changes: readonly Change[] = readChanges(inputs);
  requireOptions(options);
  const state = await context.connection.requireState();
  const reader = readerOf(context, state);
  const stock = await reader.readSettledStock(new Set(changes.map(({ petId }) => petId)));
  const env = context.connection.name;
  const plan = planChanges(changes, stock.quantities, { skipUnknown: false, env });
  const { faults } = plan;
  if (faults.length > 0) {
    const lines = faults.map(({ line, message }) => `change ${line}: ${message}`);
    throw new UsageError(`The changes are refused, and nothing was written: ${lines[0]}`, { lines });
  }
  const subject = { command: 'inventory apply', hasDeltas: changes.some(({ delta }) => delta !== undefined) };
  return perform(context, { rows: [...plan.rows], stock, reader, state, subject }, options);
}

/** @throws UsageError where there is nothing to take back, NotFoundError, ConflictError while the run is still going on */
export async function undoRun(context: RunContext, text: string, options: ApplyOptions): Promise<RunReport> {
  requireOptions(options);
  const { connection } = context;
  const state = await connection.requireState();
  const { history } = state;
  const run = await history.run(await history.find(text));
  if (run.state === 'running') throw new ConflictError(`Run ${run.run} is still going on; nothing was sent`);
  if (run.service !== connection.service) {
    throw new UsageError(`Run ${run.run} was made at ${run.baseUrl}, not at this service; nothing was sent`);
  }
  const petIds = await undoablePets(history, run);
  const reader = readerOf(context, state);
  const stock = await reader.readSettledStock(petIds);
  const rows = [...(await planUndo(history, run, stock.quantities))];
  return perform(context, { rows, stock, reader, state, subject: { command: 'undo', undoes: run.run } }, options);
}

async function perform(context: RunContext, plan: PlannedRun, options: ApplyOptions): Promise<RunReport> {
  const { rows, state } = plan;
  const env = context.connection.name;
  const faults = guardFaults({ rows }, { maxChanges: options.maxChanges, maxZero: options.maxZero });
  if (faults.length > 0) throw new UsageError(`The plan is refused, and nothing was written: ${faults.join('; ')}`);
  const dryRun = options.dryRun ?? false;
  if (dryRun || !rows.some(({ result }) => result === 'planned')) {
    const report = { run: null, env, dryRun, rows };
    return reportOf(report, runErrorOf({ report, progression: undefined, cause: undefined, where: { env } }));
  }
  const numbers = numberRows(rows);
  const log = await state.history.begin(headOf(context, plan), plannedRows(rows, numbers));
  const writes = rowWrites(rows, numbers);
  const progression = await writeRows(writes, { ...engineOptions(context, plan, options), log });
  const unclosed = await log.end().catch((error: unknown) => ({ error }));
  const report = {
    run: log.run,
    env,
    dryRun,
    rows: rows.map((row, index) => rowAfter(row, numbers[index], progression)),
  };
  const cause = progression.stoppedBy ?? unclosed?.error;
  return reportOf(report, runErrorOf({ report, progression, cause, where: { env } }));
}

function engineOptions({ connection, client, signal }: RunContext, plan: PlannedRun, options: ApplyOptions) {
  const { clock, governor, sending } = connection;
  return {
    client,
    governor,
    presence: plan.state.presence,
    readStock: plan.reader.readStock,
    clock,
    random: sending.random,
    mark: plan.stock.mark,
    timeout: sending.timeout,
    staleAfter,
    concurrency: options.concurrency ?? 4,
    failFast: options.failFast ?? false,
    interrupted: interruption(signal),
    onSettled: () => {},
    onDelay: () => {},
  };
}

/** The same moment, as the engine words it. The signal is that of one call, so the listener goes with it. */
function interruption(signal: AbortSignal): AbortSignal {
  const ending = new AbortController();
  const end = () => ending.abort(new InterruptedError('The call was aborted', { cause: signal.reason }));
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return ending.signal;
}

function headOf({ connection }: RunContext, { rows, subject }: PlannedRun): RunHead {
  const { name: env, service, scope, sending } = connection;
  const unchanged = rows.filter(({ result }) => result === 'unchanged').length;
  const reason = commonReason(rows);
  return {
    ...subject,
    env,
    store: undefined,
    baseUrl: sending.baseUrl,
    service,
    scope,
    user: userName(),
    reason,
    unchanged,
  };
}

function readerOf({ connection, client, signal }: RunContext, { pets }: State): StockReader {
  const { clock, service } = connection;
  return createStockReader({ client, pets, service, clock, interrupted: signal, onDelay: () => {} });
}

function reportOf(
  { run, dryRun, rows }: { readonly run: string | null; readonly dryRun: boolean; readonly rows: readonly BulkRow[] },
  error: PetstockError | undefined,
): RunReport {
  // Hints are commands of the command line, which a program does not run.
  return { run: run ?? undefined, dryRun, rows, counts: countRows(rows), error: error?.with({ hint: undefined }) };
}

function requireOptions({ maxChanges, maxZero, concurrency }: ApplyOptions): void {
  countOf(maxChanges, 'maxChanges');
  countOf(maxZero, 'maxZero');
  countOf(concurrency, 'concurrency', 1);
}
