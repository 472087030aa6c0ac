import { machineOf } from '../../../history/machine.ts';
import type { RecordedRun } from '../../../history/records.ts';
import { resumeJournal } from '../../../history/resume.ts';
import { readRun } from '../../../history/run-file.ts';
import { resumeRows, unansweredPets } from '../../../writes/resumed-rows.ts';
import { type BulkOptions, runBulk } from '../../../writes/run-bulk.ts';
import { requireSameAddress, requireSameEnvironment } from '../../../writes/same-service.ts';
import { type BulkSession, withBulkSession } from '../../../writes/session.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { failedRowsWriter } from './failed-out.ts';

export interface ResumeOptions extends Omit<BulkOptions, 'stdinIsTaken' | 'keepFailed'> {
  readonly failedOut: string | undefined;
}

/** Goes on with a run: what has its answer stays, the rest is looked at before it is sent. */
export async function resumeRun(invocation: Invocation, run: string, options: ResumeOptions): Promise<void> {
  const keepFailed = failedRowsWriter(options.failedOut);
  const { state } = invocation.context.folders;
  const recorded = readRun(state, run);
  const command = `petstock inventory apply --resume ${recorded.run}`;
  requireSameEnvironment(recorded, invocation.environment.value, command);
  await withBulkSession(invocation, async (session) => {
    requireSameAddress(recorded, session.connection, command);
    await invocation.announce();
    const bulk = { ...options, keepFailed, stdinIsTaken: false };
    if (options.dryRun) {
      const { quantities, mark } = await session.readStock(unansweredPets(recorded));
      const { rows, numbers } = resumeRows(recorded, (petId) => quantities.get(petId));
      const job = { rows, numbers, mark, verb: 'Write' as const, run: recorded.run, look: look(recorded) };
      await runBulk(invocation, session, { ...job, begin: notInDryRun }, bulk);
    } else {
      await goOn(invocation, session, recorded.run, bulk);
    }
  });
}

async function goOn(invocation: Invocation, session: BulkSession, run: string, options: BulkOptions): Promise<void> {
  const { clock, folders } = invocation.context;
  const owner = { ...machineOf(invocation.context), now: () => clock.now() };
  const { recorded, journal } = await resumeJournal(folders.state, run, owner);
  try {
    const { quantities, mark } = await session.readStock(unansweredPets(recorded));
    const { rows, numbers, outcomes } = resumeRows(recorded, (petId) => quantities.get(petId));
    for (const outcome of outcomes) await journal.outcome(outcome);
    const job = { rows, numbers, mark, verb: 'Write' as const, run: recorded.run, look: look(recorded) };
    await runBulk(invocation, session, { ...job, begin: async () => journal }, options);
  } finally {
    // What went wrong with it has been told by then.
    await journal.close().catch(() => {});
  }
}

function look({ run, env }: RecordedRun): string {
  return `petstock inventory apply --resume ${run} --env ${env} --dry-run`;
}

function notInDryRun(): Promise<never> {
  return Promise.reject(new Error('a dry run has no journal'));
}
