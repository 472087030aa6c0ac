import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { changeFileText } from '../../../../change-files/change-file-text.ts';
import { type SessionLog, shortOf } from '../../../../counts/session-log.ts';
import type { Sessions } from '../../../../counts/sessions.ts';
import type { BulkRow, BulkRows, Change } from '../../../../inventory/change.ts';
import { countWhere } from '../../../../inventory/change.ts';
import { grouped } from '../../../../inventory/grouped.ts';
import { planChanges } from '../../../../inventory/plan.ts';
import type { RowColumns } from '../../../../inventory/row-columns.ts';
import { batchesOfArray } from '../../../../output/batches.ts';
import { counted } from '../../../../output/change-rows.ts';
import { writeFileAtomically } from '../../../../shared/atomic-file.ts';
import { UsageError } from '../../../../shared/errors.ts';
import { fileWord } from '../../../../shared/shell-word.ts';
import { whereName, whereOptions } from '../../../../shared/where.ts';
import type { PlanStock } from '../../../../writes/stock-reader.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { type PlanOptions, performPlan, requireWithinGuards } from '../../../runs/perform-plan.ts';
import { beginRun } from '../../../runs/run-log.ts';
import type { Session } from '../../../runs/session.ts';
import { confirmReplacing, rememberWritten } from '../../replace-file.ts';
import { requireCsvName } from '../csv-name.ts';
import type { Counting } from './counting.ts';
import { createUnknownFaults } from './unknown-faults.ts';

type WriteFile = (rows: BulkRows) => Promise<void>;

export interface FinishOptions extends Omit<PlanOptions, 'stdinIsTaken' | 'keepFailed'> {
  readonly all: boolean;
  /** All pets of the service, when the count began. */
  readonly petIds: ReadonlySet<bigint> | undefined;
  readonly to: string | undefined;
  readonly writeFile: WriteFile | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
  /** The command that goes on with the session. */
  readonly wayOn: string;
}

export interface FinishedCount {
  readonly sessions: Sessions;
  readonly counting: Counting;
  /** The session began with this command. */
  readonly isNew: boolean;
  /** Nothing of the session is kept. */
  readonly isTrial: boolean;
}

/** What was counted, beside the stock now. */
interface CountPlan {
  readonly rows: RowColumns;
  readonly stock: PlanStock;
  /** Units of what is no pet of the service, by what is said of it. */
  readonly unknowns: ReadonlyMap<string, number>;
}

/**
 * Ends a count: as a run, or as a change file. With that the session is finished. Where it does not come to that it stays as it is.
 * @throws UsageError where nothing was counted; PartialError where something was scanned that is no pet's
 */
export async function finishCount(run: Session, count: FinishedCount, options: FinishOptions): Promise<void> {
  const { invocation } = run;
  const { sessions, counting, isNew, isTrial } = count;
  const { tally, log } = counting;
  // An empty input says nothing about the shelves: with --all it would set the whole shop to 0.
  if (tally.pets === 0 && tally.unknownUnits === 0) {
    if (isNew) sessions.end(log, { how: 'discarded' });
    throw new UsageError('Nothing was counted, and nothing was written');
  }
  const plan = await planOf(run, counting, options);
  const { unknowns, rows } = plan;
  const asks = !options.dryRun && options.to === undefined && invocation.questions.willAsk();
  const faults = createUnknownFaults(invocation, unknowns, asks);
  await faults.show();
  try {
    faults.requireCountable(rows, options.all);
    if (options.writeFile === undefined) await writeStock(run, count, plan, options);
    else {
      requireWithinGuards(rows, options.guards);
      await options.writeFile(rows);
      sessions.end(log, { how: 'written', file: options.to ?? '-' });
      await noteWritten(invocation, rows, options.to);
    }
  } finally {
    if (isTrial) sessions.end(log, { how: 'discarded' });
  }
  if (unknowns.size > 0) throw faults.notCounted();
}

async function planOf(run: Session, counting: Counting, options: FinishOptions): Promise<CountPlan> {
  const { invocation } = run;
  const units = new Map(counting.tally.counts());
  await invocation.service.announce();
  const stock = await run.readSettledStock(new Set([...units.keys(), ...((options.all && options.petIds) || [])]));
  const unknowns = counting.unknowns();
  const there = new Set([...stock.quantities.keys(), ...(stock.quantities.unreadable?.keys() ?? [])]);
  for (const [petId, quantity] of units) {
    if (there.has(petId)) continue;
    units.delete(petId);
    const name = counting.nameOfMissing(petId);
    unknowns.set(name, (unknowns.get(name) ?? 0) + quantity);
  }
  if (options.all) for (const petId of there) if (!units.has(petId)) units.set(petId, 0);
  const { reason = 'stock-take', ref } = options;
  const changes = Array.from(units, ([petId, quantity], index): Change => {
    return { line: index + 1, petId, quantity, delta: undefined, expected: undefined, reason, ref };
  });
  const env = whereName(invocation.where);
  const { rows } = planChanges(changes, stock.quantities, { skipUnknown: false, env });
  return { rows, stock, unknowns };
}

async function writeStock(
  run: Session,
  { sessions, counting }: FinishedCount,
  { rows, stock }: CountPlan,
  options: FinishOptions,
): Promise<void> {
  const { invocation, connection } = run;
  const { log } = counting;
  const subject = { command: 'inventory count', contentHash: hashOf(log) };
  let begun: string | undefined;
  const begin = async (plan: BulkRows, numbers: readonly (number | undefined)[]) => {
    const runLog = await beginRun(invocation, connection, subject, { rows: plan, numbers });
    begun = runLog.run;
    return runLog;
  };
  const job = { rows, mark: stock.mark, readAt: stock.readAt, verb: 'Write' as const, begin };
  try {
    await performPlan(run, { ...job, look: `${options.wayOn} --dry-run` }, { ...options, stdinIsTaken: false });
    if (!options.dryRun) sessions.end(log, { how: 'applied', run: begun ?? null });
  } catch (error) {
    if (begun !== undefined) sessions.end(log, { how: 'applied', run: begun });
    throw error;
  }
}

/** A run remembers the session that it is of, so that a crash after its beginning can't make two of it. */
function hashOf({ session }: SessionLog): string {
  return createHash('sha256').update(`inventory count ${session.head.session}`).digest('hex');
}

/** @throws UsageError where a run of the session has begun, before a crash: it is finished with that */
export async function requireUnapplied({ connection }: Session, sessions: Sessions, log: SessionLog): Promise<void> {
  const [run] = await connection.state.history.runsOfFile(connection.service, hashOf(log));
  if (run === undefined) return;
  const name = shortOf(log.session);
  sessions.end(log, { how: 'applied', run: run.run });
  if (run.state === 'incomplete') {
    throw new UsageError(`Session ${name} was applied, and run ${run.run} of it is not finished; nothing was sent`, {
      hint: `petstock inventory apply --resume ${run.run} ${whereOptions(run)}`,
    });
  }
  throw new UsageError(`Session ${name} was applied, by run ${run.run}; nothing was sent`, {
    hint: `petstock history show ${run.run}`,
  });
}

/** @throws UsageError at once where there is no folder for the file, or a file that may not be replaced */
export async function changeFileWriter(
  invocation: Invocation,
  {
    to,
    codes,
    force,
    dryRun,
  }: {
    readonly to: string | undefined;
    readonly codes: string | undefined;
    readonly force: boolean;
    readonly dryRun: boolean;
  },
): Promise<WriteFile | undefined> {
  if (to === undefined) return undefined;
  if (dryRun) throw new UsageError('--to and --dry-run cannot be used together: --to writes no stock');
  const texts = (rows: BulkRows) => changeFileText(batchesOfArray(rows, exportRow), { spreadsheet: false });
  if (to === '-') {
    return async (rows) => {
      for await (const piece of texts(rows)) await invocation.results.write(piece);
    };
  }
  if (!existsSync(dirname(to))) throw new UsageError(`There is no folder ${dirname(to)} for --to`);
  if (statSync(to, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`${to} is a folder; --to takes a file`);
  }
  requireCsvName(to, '--to');
  await confirmReplacing(invocation, to, { force, inputs: codes === undefined ? ['-'] : ['-', codes] });
  return async (rows) => {
    await writeFileAtomically(to, texts(rows));
    await rememberWritten(invocation, to);
  };
}

function exportRow({ petId, before, after, reason, ref }: BulkRow) {
  return { petId, expected: before, quantity: after, reason, ref };
}

async function noteWritten({ messages, where }: Invocation, rows: BulkRows, to = '-'): Promise<void> {
  if (to === '-') return;
  const differ = countWhere(rows, ({ before, after }) => before !== after);
  await messages.note(
    `Written to ${to}: ${counted(rows.length, 'pet')}, ${grouped(differ)} with another stock than now.`,
  );
  await messages.note(`Apply it: petstock inventory apply ${fileWord(to)} ${whereOptions(where)}`);
}
