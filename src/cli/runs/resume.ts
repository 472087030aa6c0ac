import { grouped } from '../../inventory/items.ts';
import type { RunRecord } from '../../inventory/run-records.ts';
import { ConflictError, NotFoundError } from '../../shared/errors.ts';
import { commandLine, petstock, targetName } from '../../shared/hint.ts';
import { planResume } from '../../writes/plan-resume.ts';
import { countUnclearRows, mayHaveWritten } from '../../writes/plan-undo.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { existingState, type FoundState } from '../invocation/state-access.ts';
import { type PlanJob, type PlanOptions, performPlan } from './perform.ts';
import {
  type RunAccess,
  requireRun,
  requireSameService,
  requireSameTarget,
  serviceNow,
  skippedText,
  whyElsewhere,
  withContinueHint,
} from './run-access.ts';

/**
 * Resumes a run.
 * @param text the id of the run, its last four characters, or `latest`
 * @param onBegun called before the first write of the run, if anything is left to write
 * @throws UsageError if the run belongs to another target or service; ConflictError if it was discarded or is still
 * running
 */
export async function resumeRun(
  invocation: Invocation,
  text: string,
  options: PlanOptions,
  onBegun: () => Promise<void>,
): Promise<void> {
  const { questions, target } = invocation;
  const run = text === 'latest' ? await latestUnfinished(invocation) : await requireRun(invocation, text);
  if (run.isDiscarded) {
    throw new ConflictError(`Run ${run.run} was discarded. Nothing was sent`, {
      hint: petstock`history show ${run.run}`,
    });
  }
  const command = commandLine(invocation, ['inventory', 'apply', '--resume', run.run], { resume: undefined }, run);
  requireSameTarget(run, target, command);
  if (!options.dryRun) questions.requireAnswer({ previewCommand: petstock`${command} --dry-run` });
  await withContinueHint(
    command,
    async () => {
      const access = { invocation, connection: await invocation.connections.connect({ bulk: true, writes: true }) };
      requireSameService(run, access.connection, command);
      await continueRun(access, run, onBegun, options);
    },
    'Nothing more was written',
  );
}

async function continueRun(access: RunAccess, run: RunRecord, onBegun: PlanJob['onBegun'], options: PlanOptions) {
  const { invocation, connection } = access;
  const { history } = connection;
  const open = options.dryRun ? undefined : await history.resume(run.run, connection);
  try {
    const plan = await planResume(connection, run, open);
    const written = `${grouped(run.counts.applied + run.counts.differs)} of ${grouped(run.changes)} written`;
    await invocation.messages.note(`Run ${run.run} (${run.command}): ${written}.`);
    await performPlan(access, { ...plan, onBegun, intention: { verb: 'Write', facts: [written] } }, options);
  } finally {
    // The error of the run already describes what failed.
    if (open !== undefined) await history.end(open).catch(() => {});
  }
}

/**
 * Returns the latest incomplete run of the target. If there is none, returns the latest running one, which
 * another process has.
 * @throws NotFoundError with the skipped runs if there is neither
 */
async function latestUnfinished(invocation: Invocation): Promise<RunRecord> {
  const { target, messages } = invocation;
  const service = serviceNow(invocation);
  const skipped: string[] = [];
  const found = await existingState(invocation);
  const latest = found && (await latestIn(found.history));
  if (latest === undefined) {
    throw new NotFoundError(`There is no unfinished run in ${targetName(target)}. Nothing was sent`, {
      lines: skipped,
      hint: 'petstock history list',
    });
  }
  for (const line of skipped) await messages.note(line);
  return latest;

  async function latestIn(history: FoundState['history']): Promise<RunRecord | undefined> {
    const where = { env: target.env, store: target.store ?? null };
    for (const unfinished of ['incomplete', 'running'] as const) {
      for await (const run of history.runs({ ...where, state: unfinished })) {
        const why = whyElsewhere(run, service);
        if (why === undefined) return run;
        skipped.push(skippedText(run, why));
      }
    }
    // If an earlier copy of the state was restored during the newest run, the run looks closed, but its rows may have
    // been written.
    for await (const run of history.runs({ ...where, limit: 1 })) {
      const rows = await countUnclearRows(history, run);
      if (rows > 0) skipped.push(skippedText(run, mayHaveWritten(rows)));
    }
    return undefined;
  }
}
