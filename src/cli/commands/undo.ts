import type { BulkRow } from '../../inventory/change.ts';
import type { RunRecord } from '../../inventory/run-records.ts';
import { localMinute } from '../../output/time.ts';
import { ConflictError, NotFoundError, PetstockError, UsageError } from '../../shared/errors.ts';
import {
  applyRows,
  commandLine,
  petstock,
  type Target,
  targetName,
  targetWords,
  withWords,
} from '../../shared/hint.ts';
import { isPlainName } from '../../shared/sanitize.ts';
import {
  mayHaveWritten,
  notUndoable,
  planUndo,
  requireUndoable,
  type UndoNote,
  undoable,
  whyOvertaken,
} from '../../writes/plan-undo.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { existingState, type FoundState, sharedStateOf, userOf } from '../invocation/state-access.ts';
import { type PlanOptions, performPlan } from '../runs/perform.ts';
import {
  type RunAccess,
  requireRun,
  requireSameService,
  requireSameTarget,
  serviceNow,
  skippedText,
  whyElsewhere,
  withContinueHint,
} from '../runs/run-access.ts';
import { define } from './command.ts';
import { bulkOptions, parseBulkFlags } from './option-values.ts';

export const undoCommand = define({
  summary: 'undo a run',
  group: 'Stock',
  operands: { '[run]': 'the run, as history list shows it' },
  description:
    'Undoes a run: restores each stock to its value before the run. A stock must still be what the run ' +
    'wrote, and no other run may have changed that pet since. Other rows are conflicts and stay as they are. An undo ' +
    'is itself a run, and a row is undone only once. Sends one request, plus one per row.',
  options: [
    [
      '--last',
      'undo the run that wrote last in this environment and can be undone; skipped runs are listed. With a shared state, only your runs on this machine',
    ],
    ['--reason <text>', 'reason in the history'],
    ['--ref <text>', 'your own number or name, for the history'],
    ...bulkOptions,
  ],
  examples: [
    ['petstock undo --last', 'shows which run that is, and asks'],
    ['petstock undo --last --dry-run', 'see what it would do'],
    ['petstock undo <run>', 'the last four characters of its id are enough'],
  ],
  run: async (invocation, { last = false, reason, ref, ...flags }, runId?: string) => {
    if (last === (runId !== undefined)) {
      const message = last
        ? "A run and --last can't be used together. Leave one out"
        : 'No run was given. Give its id, or use --last';
      throw new UsageError(message, { hint: 'petstock history list' });
    }
    const options = { ...parseBulkFlags(invocation, flags), reason, ref };
    if (runId === 'last') {
      throw new UsageError('To undo the latest run, use --last', {
        hint: petstock`${withWords(invocation.context.argv, ['last'], ['--last']) ?? ['undo', '--last']}`,
      });
    }
    const isLatest = runId === undefined || runId === 'latest';
    await (isLatest ? undoLastRun(invocation, options) : undoRun(invocation, runId, options));
  },
});

type UndoOptions = PlanOptions & UndoNote;

/** Maximum number of skipped runs that are described, and of pets in a hint. */
const maxNamed = 5;

/**
 * Undoes the latest run that can be undone, after showing it.
 * @throws NotFoundError if there is none
 */
async function undoLastRun(invocation: Invocation, options: UndoOptions): Promise<void> {
  const { target, messages, questions } = invocation;
  const { run, skipped } = await findLast(invocation, await existingState(invocation));
  if (run === undefined) {
    const isShared = sharedStateOf(invocation) !== undefined;
    const scope = isShared ? '. With a shared state, --last covers only your runs on this machine' : '';
    throw new NotFoundError(`Nothing to undo in ${targetName(target)}${scope}`, {
      lines: skipped,
      hint: 'petstock history list',
    });
  }
  for (const line of skipped) await messages.note(line);
  // For a single pet, the question already shows everything.
  const isInQuestion = !options.dryRun && questions.willAsk() && run.changes === 1;
  if (!isInQuestion) await messages.note(`Run ${run.run}: ${run.command}, ${localMinute(run.at)}`);
  await undoRun(invocation, run.run, options);
}

/**
 * Returns the run with the latest write to this service that can be undone, or that is still running, and sentences
 * about the skipped runs, of which at most `maxNamed` are described. A running run is not skipped, so that `undoRun`
 * refuses to undo it instead of undoing an older one. Undo runs are left out.
 */
async function findLast(invocation: Invocation, found: FoundState | undefined) {
  const { target, context } = invocation;
  // With a shared state, the latest run may be that of another user or machine.
  const isShared = sharedStateOf(invocation) !== undefined;
  const own = isShared ? { user: userOf(context.env), host: context.self.host } : {};
  const filter = { env: target.env, store: target.store ?? null, ...own };
  const service = serviceNow(invocation);
  const skipped: string[] = [];
  let more = 0;
  const described = () => (more === 0 ? skipped : [...skipped, `And ${more} more.`]);
  if (found === undefined) return { run: undefined, skipped };
  for await (const run of found.history.runsByLastWrite(filter)) {
    if (run.undoes !== undefined) continue;
    const why = await whySkipped(found, run, service);
    if (why === undefined) return { run, skipped: described() };
    if (skipped.length === maxNamed) more += 1;
    else skipped.push(skippedText(run, why));
  }
  return { run: undefined, skipped: described() };
}

/** Returns why `undo --last` skips a run, as a clause that begins with a verb; undefined if it does not. */
async function whySkipped(state: FoundState, run: RunRecord, service: string | undefined): Promise<string | undefined> {
  const elsewhere = whyElsewhere(run, service);
  if (elsewhere !== undefined || run.state === 'running') return elsewhere;
  const found = await undoable(state.history, run);
  return found.petIds.size > 0 && !found.isIdle ? whyOvertaken(state, run) : notUndoable(run, found);
}

/**
 * Undoes a run.
 * @throws UsageError if nothing is left to undo, or if the run belongs to another target or service; ConflictError
 * while the run is running
 */
async function undoRun(invocation: Invocation, text: string, options: UndoOptions): Promise<void> {
  const run = await requireRun(invocation, text);
  if (run.state === 'running') {
    throw new ConflictError(`Run ${run.run} is still running. Nothing was sent`, { hint: 'petstock history list' });
  }
  const command = commandLine(invocation, ['undo', run.run], { last: undefined }, run);
  requireSameTarget(run, invocation.target, command);
  await withContinueHint(command, async () => {
    const access = { invocation, connection: await invocation.connections.connect({ bulk: true, writes: true }) };
    requireSameService(run, access.connection, command);
    await undo(access, run, command, options);
  });
}

async function undo(access: RunAccess, run: RunRecord, command: readonly string[], options: UndoOptions) {
  const { invocation, connection } = access;
  const found = await requireUndoable(connection.history, run);
  if (!options.dryRun) invocation.questions.requireAnswer({ previewCommand: petstock`${command} --dry-run` });
  if (found.unclear > 0) await invocation.messages.warn(`Run ${run.run} ${mayHaveWritten(found.unclear)}`);
  const plan = await planUndo(connection, run, found, options);
  const { reason = '' } = run;
  const isPlain = isPlainName(reason);
  const why = reason === '' || !isPlain ? '' : ` (${reason})`;
  const facts = [`as before ${run.command}${why}, run ${run.run.slice(-4)}`];
  const words = isPlain ? [] : [reason];
  try {
    await performPlan(access, { ...plan, intention: { verb: 'Undo', facts, words } }, options);
  } catch (error) {
    throw withAdjustHint(error, plan.rows, run);
  }
}

/**
 * Adds a hint to the error of an undo: `inventory adjust`, or `apply`, with the deltas of the rows that became conflicts,
 * because another run has changed their pets since. There is no hint if other rows were not written, or if there are more than
 * `maxNamed` such rows.
 */
function withAdjustHint(error: unknown, rows: readonly BulkRow[], target: Target): unknown {
  const left = rows.flatMap(({ petId, result, delta = 0 }) => {
    return result === 'conflict' && delta !== 0 ? [[`${petId}`, delta < 0 ? `${delta}` : `+${delta}`] as const] : [];
  });
  const isOpen = rows.some(({ result }) => result === 'notAttempted' || result === 'unknown' || result === 'failed');
  if (!(error instanceof PetstockError) || isOpen || left.length === 0 || left.length > maxNamed) return error;
  const words = targetWords(target);
  const isOne = left.length === 1;
  return error.with({
    hint: isOne ? petstock`inventory adjust ${left.flat()} ${words}` : applyRows('delta', left, ['--yes', ...words]),
  });
}
