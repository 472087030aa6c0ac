import { PetIdSet } from '../../inventory/pet-id-set.ts';
import { absenceText } from '../../inventory/pet-quantities.ts';
import { RowColumns } from '../../inventory/row-columns.ts';
import { shellWord } from '../../shared/shell-word.ts';
import { whereOptions } from '../../shared/where.ts';
import type { RunLog, RunRecord } from '../../state/history.ts';
import { inPages } from '../../writes/in-pages.ts';
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
  const { mark, readAt, quantities } = await readStockOf(session, run.run);
  const { rows, numbers } = await readRows(session, run, log, quantities);
  return {
    rows,
    mark,
    readAt,
    verb: 'Write',
    look: `petstock inventory apply --resume ${shellWord(run.run)} ${whereOptions(run)} --dry-run`,
    resumed: { run: run.run, numbers, unchanged: run.unchanged },
    begin: async () => log ?? Promise.reject(new Error('a dry run has no log')),
  };
}

/** The rows of the run as it goes on. They are read once more, so that they need not be held while the stock is read. */
async function readRows(
  { connection }: Session,
  run: RunRecord,
  log: RunLog | undefined,
  stock: PlanStock['quantities'],
): Promise<{ readonly rows: RowColumns; readonly numbers: readonly number[] }> {
  const { history } = connection.state;
  const rows = new RowColumns();
  const numbers: number[] = [];
  for await (const page of inPages(history.rows(run.run))) {
    const unanswered = page.filter(isUnanswered);
    const answers = await history.writesAfter(run, unanswered);
    const later = new Map(unanswered.map((row, index) => [row, answers[index]]));
    for (const row of page) {
      const facts = { stock: stock.get(row.petId), absence: absenceText(stock, row.petId) };
      const resumed = resumeRow(row, { ...facts, laterWrites: later.get(row) ?? [] });
      if (resumed.outcome !== undefined) await log?.settle([resumed.outcome]);
      rows.push(resumed.row);
      numbers.push(row.row);
    }
  }
  return { rows, numbers };
}

/** The stock of rows without an answer, once no request of them can be on its way any more where that matters. */
async function readStockOf({ invocation, connection, readSettledStock }: Session, run: string): Promise<PlanStock> {
  const { clock, interrupted } = invocation.context;
  const { history } = connection.state;
  const petIds = new PetIdSet();
  for await (const row of history.rows(run, ['pending', 'unknown'])) petIds.add(row.petId);
  for (;;) {
    const stock = await readSettledStock(petIds, run);
    let wait = 0;
    for await (const { petId, after, expires = 0 } of history.rows(run, ['unknown'])) {
      if (stock.quantities.get(petId) !== after) wait = Math.max(wait, expires - stock.readAt);
    }
    if (wait <= 0) return stock;
    const seconds = Math.ceil(wait / 1000);
    await invocation.messages.note(
      `A request of this run may still arrive at the service; looking again in ${seconds} s.`,
    );
    await clock.sleep(Math.ceil(wait), interrupted);
  }
}
