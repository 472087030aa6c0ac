import { hashOf } from '../../../../counts/account.ts';
import { record, shortOf } from '../../../../counts/session-tables.ts';
import type { BulkRow } from '../../../../inventory/change.ts';
import { counted, grouped } from '../../../../inventory/items.ts';
import { petLine } from '../../../../output/count-text.ts';
import { truncate } from '../../../../output/text-width.ts';
import { ConflictError, PartialError, type PetstockError, UsageError } from '../../../../shared/errors.ts';
import { petstock, targetWords } from '../../../../shared/hint.ts';
import { RepetitionError } from '../../../../state/older-copy.ts';
import { faultyFile } from '../../../input-file.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { openRunOf } from '../../../runs/open-run.ts';
import { performPlan } from '../../../runs/perform.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import type { openFailedOut } from '../failed-out.ts';
import type { WriteRows } from '../written-change-file.ts';
import { offerAssigned } from './assigned.ts';
import { writeToFile } from './count-file.ts';
import type { CountOptions } from './count-options.ts';
import { type CountPlan, noneKnown, planOf, requireAllKnown, showUnknown, unknownText } from './count-plan.ts';
import type { Counting } from './counting.ts';
import { fileHint, settle, withLeft } from './settle.ts';

export interface FinishOptions extends Omit<CountOptions, 'failedOut'> {
  /** All pets of the service when this command began to count; undefined if they are not known. */
  readonly petIds: ReadonlySet<bigint> | undefined;
  readonly writeFile: WriteRows | undefined;
  readonly failedOut: Awaited<ReturnType<typeof openFailedOut>>;
  readonly beganNow: boolean;
}

/**
 * Ends a count as a run or as a change file. The session is then finished, except for units of unknown codes and units
 * that could not be written. A dry run leaves the units in the session.
 * @returns the pets to count again because their stock has changed during the count, with their current stock
 * @throws UsageError if nothing was counted, if a line that was not typed is mistaken, or if `--all` meets an unknown
 * code; NotFoundError if no code is known, PartialError if only some are
 */
export async function finishCount(
  run: RunAccess,
  counting: Counting,
  options: FinishOptions,
): Promise<ReadonlyMap<bigint, number>> {
  const { invocation } = run;
  const { session } = counting;
  await requireRightLines(run, counting, options);
  requireCounted(counting, options);
  const plan = await planOf(run, counting, options);
  const { unknowns, rows } = plan;
  const changed = invocation.context.stdin.isTerminal ? changedOf(counting, rows) : new Map<bigint, number>();
  if (changed.size > 0) {
    await showChanged(invocation, counting, changed);
    counting.note([...changed.keys()].map((pet) => record('again', { pet })));
    return changed;
  }
  await offerAssigned(invocation, session, options, plan.hasPet);
  const asks = !options.dryRun && options.to === undefined && invocation.questions.willAsk();
  const lines = await showUnknown(invocation, unknowns, asks);
  // The remaining units are counted once a file has their codes.
  const codes = options.codes ?? invocation.config.settings.codes ?? '<codes.csv>';
  const withRest = (error: PetstockError) =>
    options.dryRun ? error : withLeft(error, run, session, { ...invocation.options, ...restFlags, codes });
  if (rows.length === 0 && unknowns.size > 0) throw withRest(noneKnown(lines));
  if (options.all) requireAllKnown(plan, lines);
  const unscanned = (options.petIds?.size ?? 0) - rows.length;
  if (!options.all && unscanned > 0 && session.head.mode === 'count') {
    const kept = unscanned === 1 ? 'was not scanned and keeps its' : 'were not scanned and keep their';
    await invocation.messages.note(`${counted(unscanned, 'pet')} ${kept} stock.`);
  }
  if (options.writeFile === undefined) await writeStock(run, counting, plan, options);
  else await writeToFile(invocation, counting, plan.rows, options, options.writeFile);
  if (!session.isKept) session.end({ how: 'discarded' });
  else if (options.dryRun) {
    const name = shortOf(session);
    const next = petstock`inventory count ${name} ${targetWords(invocation.target)}`;
    await invocation.messages.note(`The count is saved in session ${name}. To resume: ${next}`);
  }
  if (unknowns.size === 0) return changed;
  throw withRest(new PartialError(`Not counted: ${unknownText(unknowns)}`, { lines }));
}

/**
 * Checks that something was counted; otherwise discards a session that is new or empty. With `--all`, an empty input
 * would set the whole shop to 0. A session that is empty after an earlier run is accepted, unless `--all` or `--to` is
 * given.
 * @throws UsageError if nothing was counted
 */
function requireCounted({ account, session }: Counting, { all, to, beganNow }: FinishOptions): void {
  if (!account.tally.isEmpty || (account.isEmpty && account.runs > 0 && !all && to === undefined)) return;
  if (beganNow || (account.isEmpty && session.isKept)) session.end({ how: 'discarded' });
  throw new UsageError('Nothing was counted. Nothing was written');
}

/**
 * Warns once more about mistaken lines.
 * @throws UsageError if the lines were not typed, because their meaning is not known
 */
async function requireRightLines(run: RunAccess, counting: Counting, options: FinishOptions): Promise<void> {
  const { mistakes: problems, session, account, known } = counting;
  const { messages } = run.invocation;
  const total = problems.length;
  if (total === 0) return;
  if (known.isTyped) {
    await messages.warn(`${total === 1 ? '1 line was' : `${grouped(total)} lines were`} ignored:`);
    for (const { message } of problems) await messages.quote(message, { always: true });
    return;
  }
  const error = faultyFile('-', { problems, total, unit: 'line' }, 'nothing was written');
  if (account.isEmpty && options.beganNow) session.end({ how: 'discarded' });
  if (account.isEmpty || options.dryRun) throw error;
  const left = withLeft(error, run, session, { ...run.invocation.options, codes: undefined });
  throw left instanceof UsageError
    ? left.with({ message: `${left.message}. Resume the session with the corrected lines only` })
    : left;
}

/** Returns the pets to be written whose stock has changed since their count began, with their current stock. */
function changedOf(counting: Counting, rows: readonly BulkRow[]): ReadonlyMap<bigint, number> {
  const changed = rows.flatMap(({ petId, before, delta, result }): [bigint, number][] => {
    const seen = counting.account.seen.get(petId);
    const isChanged = result === 'planned' && delta === undefined && seen !== undefined && seen !== before;
    return isChanged && before !== undefined ? [[petId, before]] : [];
  });
  return new Map(changed);
}

async function showChanged({ messages }: Invocation, counting: Counting, changed: ReadonlyMap<bigint, number>) {
  const { names } = counting.session.codes;
  const again = `while you counted: count ${changed.size === 1 ? 'it' : 'them'} again`;
  const lineOf = (petId: bigint, now: number, width: number) =>
    petLine(petId, `: ${grouped(counting.account.seen.get(petId) ?? 0)} → ${grouped(now)} ${again}`, names, width);
  await messages.show(
    (paint, width) => Array.from(changed, ([petId, now]) => paint.yellow(truncate(lineOf(petId, now, width), width))),
    { always: true },
  );
}

async function writeStock(run: RunAccess, counting: Counting, plan: CountPlan, options: FinishOptions): Promise<void> {
  const { rows, stock, unknowns } = plan;
  const { session } = counting;
  const { names } = session.codes;
  const { dryRun, failedOut } = options;
  const repeated = await repeatedBy(run, rows);
  let isHandedOver = false;
  const job = {
    rows,
    stock,
    subject: { command: 'inventory count', contentHash: hashOf(session) },
    intention: {
      verb: 'Write' as const,
      earlier: repeated?.text,
      facts: unknowns.size > 0 ? [`leaving out ${unknownText(unknowns)}`] : [],
    },
    names: names.size > 0 ? names : undefined,
    // The units are taken from the session before the run begins, so that no other run can get them, whatever the
    // outcome.
    requireNotDuplicate: async () => {
      if (repeated !== undefined && !run.invocation.questions.willAsk()) {
        if (options.beganNow) session.end({ how: 'discarded' });
        throw repeated.error;
      }
      if (isHandedOver) throw new ConflictError(`Session ${shortOf(session)} is being written by another process`);
      isHandedOver = !dryRun;
      if (!dryRun) counting.note(counting.takenBy(rows));
      return undefined;
    },
    onBegun: async (id: string) => {
      counting.note([record('run', { code: id })]);
      await failedOut?.empty();
    },
  };
  const keepFailed = async (failed: readonly BulkRow[], isLost: boolean) => {
    // From now on, the file has these units and the session no longer does.
    const given = counting.givenOf(failed).filter(({ units }) => units > 0);
    counting.note([...given, ...(given.length > 0 ? [record('run')] : []), record('settled')]);
    await failedOut?.keep(failed, isLost);
  };
  const given = { ...options, keepFailed: failedOut && keepFailed };
  const error: unknown = await performPlan(run, job, given).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!dryRun && !isHandedOver && error === undefined) counting.noteWritten(rows, { how: 'applied', run: null });
  // If the session can't be settled now, its next command settles it. If it may already have been written, its units
  // stay handed over.
  const isDoubtful = error instanceof RepetitionError;
  const again = isHandedOver ? await settle(run, session, !isDoubtful).catch(() => []) : [];
  if (error === undefined) return;
  if (isDoubtful) throw error.with({ hint: fileHint(run, session) });
  throw isHandedOver ? withLeft(error, run, session, { ...run.invocation.options, ...restFlags }, again) : error;
}

/**
 * Finds an unfinished run with the same units, for example of a session that was lost. Warns of a run that has other
 * units of the same pets.
 * @returns the error for a command that can't ask, and a clause for the question; undefined if no run has the same
 * units
 */
async function repeatedBy(access: RunAccess, rows: readonly BulkRow[]) {
  const open = await openRunOf(access, rows);
  if (open === undefined || open.pets === 0) return undefined;
  const { run, pets, isSame } = open;
  const hint = petstock`inventory apply --resume ${run.run} ${targetWords(run)}`;
  if (!isSame) {
    const text = `Run ${run.run} is unfinished and also has units of ${grouped(pets)} of these pets. Resuming it writes those, too`;
    await access.invocation.messages.warn(text);
    return undefined;
  }
  const has = 'is unfinished and has the same units of the same pets';
  const message = `Run ${run.run} ${has}. Nothing was written`;
  return { text: `Run ${run.run.slice(-4)} ${has}`, error: new ConflictError(message, { run: run.run, hint }) };
}

/** The options that the command for the remaining units leaves out. */
const restFlags = { codes: undefined, all: undefined, failedOut: undefined, force: undefined };
