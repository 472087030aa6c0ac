import type { Invocation } from '../cli/invocation/invocation.ts';
import { machineOf } from '../history/machine.ts';
import type { RecordedRun } from '../history/records.ts';
import { readRun } from '../history/run-file.ts';
import { listRuns, undoneRows } from '../history/runs.ts';
import { ConflictError, UsageError } from '../shared/errors.ts';
import { createJournal } from './journal.ts';
import { type BulkOptions, runBulk } from './run-bulk.ts';
import { requireSameAddress, requireSameEnvironment } from './same-service.ts';
import { withBulkSession } from './session.ts';
import { rowsToUndo, undoRows } from './undone-rows.ts';

/** Takes back what a run has written. @throws UsageError where there is nothing (more) to take back */
export async function undoRun(invocation: Invocation, runId: string, options: BulkOptions): Promise<void> {
  const { folders } = invocation.context;
  const recorded = readRun(folders.state, runId);
  const { runs } = listRuns(folders.state, {}, machineOf(invocation.context));
  if (runs.find(({ run }) => run === recorded.run)?.state === 'running') {
    throw new ConflictError(`Run ${recorded.run} is still going on; nothing was sent`, {
      hint: 'petstock history list',
    });
  }
  const undone = undoneRows(folders.state, recorded.run);
  const rows = rowsToUndo(recorded, undone);
  if (rows.length === 0) throw nothingToUndo(recorded, [...new Set(undone.values())]);
  const command = `petstock undo ${recorded.run}`;
  requireSameEnvironment(recorded, invocation.environment.value, command);
  await withBulkSession(invocation, async (session) => {
    requireSameAddress(recorded, session.connection, command);
    await invocation.announce();
    const { quantities, mark } = await session.readStock(new Set(rows.map(({ petId }) => petId)));
    const plan = undoRows(recorded, rows, (petId) => quantities.get(petId));
    const begin = createJournal(invocation, session, { command: 'undo', undoes: recorded.run });
    const look = `${command} --env ${recorded.env} --dry-run`;
    await runBulk(invocation, session, { rows: plan, mark, verb: 'Take back', look, begin }, options);
  });
}

function whyNot(rows: RecordedRun['rows']): string {
  const isBlind = rows.some(({ state, before }) => state === 'applied' && before === undefined);
  return isBlind ? 'set a stock without reading it, so it is not known what it was' : 'has written nothing';
}

function nothingToUndo({ run, rows }: RecordedRun, by: readonly string[]): UsageError {
  const why = by.length > 0 ? `was taken back already, by ${by.join(' and ')}` : whyNot(rows);
  return new UsageError(`There is nothing to take back: run ${run} ${why}`, { hint: `petstock history show ${run}` });
}
