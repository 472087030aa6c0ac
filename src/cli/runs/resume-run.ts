import type { BulkRow } from '../../inventory/change.ts';
import { shellWord } from '../../shared/shell-word.ts';
import { whereOptions } from '../../shared/where.ts';
import type { RecordedRow, RunLog, RunRecord } from '../../state/history.ts';
import { isUnanswered, resumeRow } from '../../writes/resume-rows.ts';
import type { PlanStock } from '../../writes/stock-reader.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { type PlanJob, type PlanOptions, performPlan } from './perform-plan.ts';
import { requireRun } from './require-run.ts';
import { requireSamePlace, requireSameService } from './same-service.ts';
import { openSession, type Session } from './session.ts';
import { withWayOn } from './way-on.ts';

/** Resumes a run: rows with an answer stay, the stock of the others is read before they are sent. */
export async function resumeRun(invocation: Invocation, text: string, options: PlanOptions): Promise<void> {
  const run = await requireRun(invocation, 'inventory apply', text);
  const command = `petstock inventory apply --resume ${shellWord(run.run)}`;
  requireSamePlace(run, invocation.where, command);
  if (!options.dryRun) invocation.questions.requireAnswer({ look: `${command} ${whereOptions(run)} --dry-run` });
  await withWayOn(`${command} ${whereOptions(run)}`, async () => {
    const session = await openSession(invocation);
    requireSameService(run, session.connection, command);
    await invocation.service.announce();
    const { history } = session.connection.state;
    // A dry run takes nothing over.
    const log = options.dryRun ? undefined : await history.resume(run.run);
    try {
      await performPlan(session, await planOf(session, run, log), options);
    } finally {
      // What went wrong with it is in the error of the run.
      await log?.end().catch(() => {});
    }
  });
}

async function planOf(session: Session, run: RunRecord, log: RunLog | undefined): Promise<PlanJob> {
  const { history } = session.connection.state;
  const recorded: RecordedRow[] = [];
  for await (const row of history.rows(run.run)) recorded.push(row);
  const stock = await readStockOf(session, run.run, recorded.filter(isUnanswered));
  const rows: BulkRow[] = [];
  const numbers: number[] = [];
  for (const row of recorded) {
    const { petId, sequence } = row;
    const position = { service: run.service, petId, run: run.run, sequence };
    const laterWrites = isUnanswered(row) ? await history.writesAfter(position) : [];
    const resumed = resumeRow(row, { stock: stock.quantities.get(petId), laterWrites });
    if (resumed.outcome !== undefined) await log?.settle([resumed.outcome]);
    rows.push(resumed.row);
    numbers.push(row.row);
  }
  return {
    rows,
    mark: stock.mark,
    readAt: stock.readAt,
    verb: 'Write',
    look: `petstock inventory apply --resume ${shellWord(run.run)} ${whereOptions(run)} --dry-run`,
    resumed: { run: run.run, numbers },
    begin: async () => log ?? Promise.reject(new Error('a dry run has no log')),
  };
}

/** The stock of rows, once no request of them can be on its way any more where that matters. */
async function readStockOf(
  { invocation, readSettledStock }: Session,
  run: string,
  rows: readonly RecordedRow[],
): Promise<PlanStock> {
  const { clock, interrupted } = invocation.context;
  const petIds = new Set(rows.map(({ petId }) => petId));
  for (;;) {
    const stock = await readSettledStock(petIds, run);
    const open = rows.filter(
      ({ petId, after, result }) => result === 'unknown' && stock.quantities.get(petId) !== after,
    );
    const wait = Math.max(0, ...open.map(({ expires }) => (expires ?? 0) - stock.readAt));
    if (wait <= 0) return stock;
    const seconds = Math.ceil(wait / 1000);
    await invocation.messages.note(
      `A request of this run may still arrive at the service; looking again in ${seconds} s.`,
    );
    await clock.sleep(Math.ceil(wait), interrupted);
  }
}
