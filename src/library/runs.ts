import type { Client } from '../api/client.ts';
import { type BulkCounts, type BulkRow, countReport } from '../inventory/change.ts';
import { type InventoryItem, unreadableText } from '../inventory/items.ts';
import { outdatedText, type Quantities } from '../inventory/pet-id-set.ts';
import { planChanges } from '../inventory/plan.ts';
import { addDelta } from '../inventory/values.ts';
import { execute, type RunEnd, type RunOptions, type RunPlan } from '../runs/execute.ts';
import { executeInTurn } from '../runs/in-turn.ts';
import { planResume } from '../runs/plan-resume.ts';
import { nothingToUndo, planUndo, undoablePets } from '../runs/plan-undo.ts';
import type { RunSite } from '../runs/site.ts';
import { StockReader } from '../runs/stock-reader.ts';
import {
  ConflictError,
  FailureError,
  InterruptedError,
  NotFoundError,
  type PetstockError,
  UsageError,
} from '../shared/errors.ts';
import type { RecordedRow, RunFilter, RunRecord } from '../state/history.ts';
import type { State } from '../state/state.ts';
import { countOf } from './arguments.ts';
import type { LibraryConnection } from './open-connection.ts';
import { type ChangeInput, readChanges } from './read-changes.ts';
import { userName } from './user-name.ts';

export interface ApplyOptions {
  /** Plans and writes nothing. */
  readonly dryRun?: boolean | undefined;
  /** Refuse the whole plan if it writes more rows, or sets more to 0 or below. */
  readonly maxChanges?: number | undefined;
  readonly maxZero?: number | undefined;
  /** Begin no row after one that was not applied. */
  readonly failFast?: boolean | undefined;
  /** Requests in flight at once: 4. */
  readonly concurrency?: number | undefined;
  /** Finishes what is in flight; rows that were not begun are `notAttempted`. */
  readonly signal?: AbortSignal | undefined;
}

/** The outcome of a run. */
export interface RunReport {
  /** Its id in the history; undefined if nothing was to be written. */
  readonly run: string | undefined;
  readonly dryRun: boolean;
  /** `line` counts the changes from 1; of an undo it is the row of the run. */
  readonly rows: readonly BulkRow[];
  readonly counts: BulkCounts;
  /** Why not every row is as it should be; undefined if all is well. Its `run` goes on with `client.resume(run)`. */
  readonly error: PetstockError | undefined;
}

/** One pet that was written. */
export interface WrittenItem extends InventoryItem {
  /** The run in the history; undefined without a state. */
  readonly run?: string | undefined;
  /** The stock before, if it was read. */
  readonly before?: number | undefined;
}

/** What a call works with. */
export interface RunContext {
  readonly connection: LibraryConnection;
  readonly client: Client;
  readonly signal: AbortSignal;
}

const one: RunOptions = {
  ...{ dryRun: false, failFast: false, concurrency: 1 },
  guards: { maxChanges: undefined, maxZero: undefined },
};

export async function applyChanges(
  context: RunContext,
  inputs: Iterable<ChangeInput>,
  options: ApplyOptions,
): Promise<RunReport> {
  const changes = readChanges(inputs);
  const given = runOptions(options);
  const site = await siteOf(context);
  const stock = await new StockReader(site).readSettled(new Set(changes.map(({ petId }) => petId)));
  const { rows, faults } = planChanges(changes, stock.quantities, { env: site.where.env });
  if (faults.length > 0) {
    const lines = faults.map(({ line, message }) => `change ${line}: ${message}`);
    throw new UsageError(`The changes are refused, and nothing was written: ${lines[0]}`, { lines });
  }
  const hasDeltas = changes.some(({ delta }) => delta !== undefined);
  return reported(await execute(site, { subject: { command: 'inventory apply', hasDeltas }, rows, stock }, given));
}

/** @throws UsageError if there is nothing to undo, NotFoundError, ConflictError while the run is still going on */
export async function undoRun(context: RunContext, text: string, options: ApplyOptions): Promise<RunReport> {
  const given = runOptions(options);
  const site = await siteOf(context);
  const { history } = site.state;
  const run = await requireRun(site, text);
  if (run.state === 'running') throw new ConflictError(`Run ${run.run} is still going on; nothing was sent`);
  const { petIds, isBlind } = await undoablePets(history, run);
  if (petIds.size === 0) throw nothingToUndo(run, isBlind).with({ hint: undefined });
  const stock = await new StockReader(site).readSettled(petIds);
  const rows = await planUndo(history, run, stock.quantities);
  return reported(await execute(site, { subject: { command: 'undo', undoes: run.run }, rows, stock }, given));
}

/** @throws NotFoundError, ConflictError while another process has the run */
export async function resumeRun(context: RunContext, text: string, options: ApplyOptions): Promise<RunReport> {
  const given = runOptions(options);
  const site = await siteOf(context);
  const run = await requireRun(site, text);
  const log = given.dryRun ? undefined : await site.state.history.resume(run.run);
  try {
    return reported(await execute(site, await planResume(site, run, log), given));
  } finally {
    // What went wrong with it is in the error of the run.
    await log?.end().catch(() => {});
  }
}

/** Sets one pet, whatever its stock is. Without a state nothing of it is recorded. */
export async function setStock(context: RunContext, petId: bigint, quantity: number): Promise<WrittenItem> {
  if ((await context.connection.findState()) === undefined) return context.client.updateInventory(petId, quantity);
  const site = await siteOf(context);
  const rows = [rowOf(petId, undefined, quantity)];
  const plan: RunPlan = { subject: { command: 'inventory set' }, rows, stock: undefined, single: {} };
  return writtenItem(petId, (seen) => execute(site, plan, one, { seen }));
}

/** Adds to the stock of one pet. */
export async function adjustStock(context: RunContext, petId: bigint, delta: number): Promise<WrittenItem> {
  const site = await siteOf(context);
  const planOf = ({ quantities }: { readonly quantities: Quantities }) => {
    const before = stockOf(quantities, petId);
    const sum = addDelta(before, delta);
    if (!sum.ok) throw new UsageError(`${sum.fault}; nothing was written`);
    return { subject: { command: 'inventory adjust' }, rows: [{ ...rowOf(petId, before, sum.value), delta }] };
  };
  return writtenItem(petId, async (seen) => {
    const end = await executeInTurn(site, petId, planOf, one, { seen });
    if (end === undefined) throw new Error('an increment was not carried out');
    return end;
  });
}

function stockOf(quantities: Quantities, petId: bigint): number {
  const unreadable = quantities.unreadable?.get(petId);
  if (unreadable !== undefined) throw new FailureError(`${unreadableText(unreadable)}; nothing was written`);
  const outdated = quantities.outdated?.get(petId);
  if (outdated !== undefined) throw new ConflictError(`Nothing was written: pet ${petId}: ${outdatedText(outdated)}`);
  const found = quantities.get(petId);
  if (found === undefined) throw new NotFoundError(`There is no pet ${petId}; nothing was written`);
  return found;
}

function rowOf(petId: bigint, before: number | undefined, after: number): BulkRow {
  return { line: 1, petId, before, after, result: 'planned', reason: undefined, ref: undefined };
}

async function writtenItem(
  petId: bigint,
  write: (seen: (item: InventoryItem) => void) => Promise<RunEnd>,
): Promise<WrittenItem> {
  let item: InventoryItem | undefined;
  const { report, error } = await write((seen) => {
    if (seen.petId === petId) item = seen;
  });
  if (error !== undefined) throw withoutCommand(error);
  const [row] = report.rows;
  if (item === undefined || row === undefined) throw new FailureError(`Pet ${petId} was written, but was not answered`);
  return { ...item, run: report.run ?? undefined, ...(row.before !== undefined && { before: row.before }) };
}

/** Which runs of the history are asked for. */
export interface HistoryFilter {
  /** Runs that have written this pet. */
  readonly petId?: bigint | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly state?: HistoryRun['state'] | undefined;
  /** At most so many. */
  readonly limit?: number | undefined;
}

/** A run of this service in the history. */
export type HistoryRun = Pick<
  RunRecord,
  | 'run'
  | 'command'
  | 'user'
  | 'host'
  | 'file'
  | 'reason'
  | 'undoes'
  | 'undoneBy'
  | 'changes'
  | 'units'
  | 'counts'
  | 'state'
> & {
  readonly at: Date;
  /** Its rows, in the order of its plan. */
  rows(): AsyncIterable<HistoryRow>;
};

export type HistoryRow = Pick<
  RecordedRow,
  'row' | 'petId' | 'before' | 'after' | 'delta' | 'result' | 'quantity' | 'error' | 'reason' | 'ref' | 'undoneBy'
> & { readonly at: Date | undefined };

/** Yields the runs at this service, the newest first. */
export async function* historyOf(
  { requireState, service }: LibraryConnection,
  { petId, since, until, state, limit = Number.POSITIVE_INFINITY }: HistoryFilter,
): AsyncGenerator<HistoryRun, void> {
  const { history } = await requireState();
  const filter: RunFilter = { petId, since: since?.getTime(), until: until?.getTime(), state };
  let left = countOf(limit === Number.POSITIVE_INFINITY ? undefined : limit, 'limit') ?? limit;
  for await (const run of history.runs(filter)) {
    if (left <= 0) return;
    if (run.service !== service) continue;
    left -= 1;
    const { command, user, host, file, reason, undoes, undoneBy, changes, units, counts } = run;
    yield {
      ...{
        run: run.run,
        command,
        user,
        host,
        file,
        reason,
        undoes,
        undoneBy,
        changes,
        units,
        counts,
        state: run.state,
      },
      at: new Date(run.at),
      rows: () => historyRows(history.rows(run.run)),
    };
  }
}

async function* historyRows(rows: AsyncIterable<RecordedRow>): AsyncGenerator<HistoryRow, void> {
  for await (const { row, petId, before, after, delta, result, quantity, error, reason, ref, undoneBy, at } of rows) {
    const moment = at === undefined ? undefined : new Date(at);
    yield { row, petId, before, after, delta, result, quantity, error, reason, ref, undoneBy, at: moment };
  }
}

async function requireRun({ state, service }: RunSite, text: string): Promise<RunRecord> {
  const run = await state.history.run(await state.history.find(text));
  if (run.service === service) return run;
  throw new UsageError(`Run ${run.run} was made at ${run.baseUrl}, not at this service; nothing was sent`);
}

async function siteOf({ connection, client, signal }: RunContext): Promise<RunSite> {
  const state: State = await connection.requireState();
  const { clock, governor, sending, service, scope, name } = connection;
  const { baseUrl, timeout, random } = sending;
  return {
    ...{ client, governor, state, clock, baseUrl, service, scope, timeout, random },
    where: { env: name },
    user: userName(),
    interrupted: interruption(signal),
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

function reported({ report, error }: RunEnd): RunReport {
  const { run, dryRun, rows } = report;
  return { run: run ?? undefined, dryRun, rows, counts: countReport(report), error: error && withoutCommand(error) };
}

/** Hints are commands of the command line, which a program does not run: a run that can go on is resumed by a call. */
function withoutCommand(error: PetstockError): PetstockError {
  const isResumable = error.hint?.includes('--resume') === true && error.run !== undefined;
  return error.with({ hint: isResumable ? `client.resume('${error.run}')` : undefined });
}

function runOptions({ dryRun = false, failFast = false, ...options }: ApplyOptions): RunOptions {
  const maxChanges = countOf(options.maxChanges, 'maxChanges');
  const maxZero = countOf(options.maxZero, 'maxZero');
  const concurrency = countOf(options.concurrency, 'concurrency', 1) ?? 4;
  return { dryRun, failFast, concurrency, guards: { maxChanges, maxZero } };
}
