import { type SessionLog, shortOf } from '../../../../counts/session-log.ts';
import type { Sessions } from '../../../../counts/sessions.ts';
import type { UnreadableItem } from '../../../../inventory/items.ts';
import { sumText } from '../../../../output/count-text.ts';
import {
  ChangesFound,
  InterruptedError,
  PetstockError,
  RateLimitedError,
  UnavailableError,
  UsageError,
} from '../../../../shared/errors.ts';
import { shellWord } from '../../../../shared/shell-word.ts';
import { type Where, whereName, whereOptions } from '../../../../shared/where.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import type { PlanOptions } from '../../../runs/perform-plan.ts';
import { openSession, type Session } from '../../../runs/session.ts';
import { type Choice, type ChoiceOptions, chooseSession } from './choose-session.ts';
import { codesOf } from './codes.ts';
import { Counting } from './counting.ts';
import { changeFileWriter, type FinishOptions, finishCount, requireUnapplied } from './finish-count.ts';
import { linesOf } from './lines.ts';
import { openSessions } from './open-sessions.ts';
import { createCountScreen } from './screen.ts';

export interface CountOptions extends Omit<PlanOptions, 'stdinIsTaken' | 'keepFailed'>, ChoiceOptions {
  /** A file of bar codes. */
  readonly codes: string | undefined;
  /** What was not scanned is counted as zero. */
  readonly all: boolean;
  /** A change file to write, instead of the stock. */
  readonly to: string | undefined;
  readonly force: boolean;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/** Counts what is scanned, and makes the stock of it. */
export async function runCount(invocation: Invocation, options: CountOptions): Promise<void> {
  const { where } = invocation;
  if (!options.dryRun && options.to === undefined) {
    const look = wayOn(where, choiceWords(options), { ...options, words: `${options.words} --dry-run` });
    invocation.questions.requireAnswer({ look });
  }
  const writeFile = await changeFileWriter(invocation, options);
  const codes = await codesOf(options.codes);
  const sessions = openSessions(invocation);
  const choice = await chooseSession(invocation, sessions, options);
  const run = await openSession(invocation);
  await requireSameService(run, choice, options.words);
  const { isTerminal } = invocation.context.stdin;
  if (isTerminal) await invocation.service.announce();
  // What is scanned at a terminal is answered at once; what comes through a pipe is checked at the end.
  const petIds = isTerminal || options.all ? await petIdsOf(run, options.all) : undefined;
  // What comes through a pipe is there to be counted once more: of a dry run, nothing is kept.
  const isTrial = options.dryRun && !isTerminal && choice.kind !== 'continue';
  // A merge that is only tried is discarded from its beginning.
  const isKept = !(isTrial && choice.kind === 'merge');
  const log = await logOf(sessions, { choice, isTrial }, run);
  try {
    const counting = new Counting(log, { codes, petIds, isTyped: isTerminal });
    const command = wayOn(where, isKept ? ` ${shortOf(log.session)}` : choiceWords(options), options);
    const finish: FinishOptions = { ...options, petIds, writeFile, wayOn: command };
    await keepingSession(log, command, async () => {
      await count(invocation, counting, { isNew: choice.kind === 'new', isKept });
      await finishCount(run, { sessions, counting, isNew: choice.kind === 'new', isTrial }, finish);
    });
  } finally {
    log.close();
  }
}

/** Whatever ends a count, except for its own end, says how to go on: the sessions are as they were. */
async function keepingSession(log: SessionLog, command: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isExpected = error instanceof PetstockError && !(error instanceof ChangesFound);
    if (!isExpected || !log.isOpen || error.hint !== undefined) throw error;
    throw error.with({ hint: command });
  }
}

/** The command that goes on with what was counted, to the same plan. @param chosen the session, or the ones to merge */
function wayOn(where: Where, chosen: string, { words }: CountOptions): string {
  return `petstock inventory count${chosen}${words} ${whereOptions(where)}`;
}

function choiceWords({ session, isNew, merge = [] }: ChoiceOptions): string {
  const chosen = [session ?? [], isNew ? '--new' : [], merge.length > 0 ? ['--merge', ...merge] : []].flat();
  return chosen.map((word) => ` ${shellWord(word)}`).join('');
}

async function requireSameService({ connection }: Session, choice: Choice, words: string): Promise<void> {
  const counted = choice.kind === 'continue' ? [choice.session] : choice.kind === 'merge' ? choice.sessions : [];
  const { environment, store, baseUrl, service } = connection;
  for (const session of counted) {
    const { head } = session;
    if (head.service === service) continue;
    throw new UsageError(
      `Session ${shortOf(session)} counts ${head.baseUrl}, and ${whereName({ store, env: environment })} is now ${baseUrl}; nothing was sent`,
      { hint: `petstock inventory count --new${words} ${whereOptions({ store, env: environment })}` },
    );
  }
}

async function logOf(
  sessions: Sessions,
  { choice, isTrial }: { readonly choice: Choice; readonly isTrial: boolean },
  run: Session,
): Promise<SessionLog> {
  const { environment, store, service, baseUrl } = run.connection;
  if (choice.kind === 'merge') return sessions.merge(choice.sessions, isTrial);
  if (choice.kind === 'new') return sessions.begin({ env: environment, store, service, baseUrl, merged: [] });
  const log = sessions.open(choice.session);
  try {
    if (log.session.damage.length > 0) log.acceptDamage();
    if (log.session.head.merged.length > 0) sessions.endSources(log.session);
    await requireUnapplied(run, sessions, log);
  } catch (error) {
    log.close();
    throw error;
  }
  return log;
}

/**
 * The pets that the service has: one GET. Without an answer the count goes on, and they are looked at in the end.
 * @param all they are all to be counted: without them that can't be
 */
async function petIdsOf({ invocation, connection }: Session, all: boolean): Promise<ReadonlySet<bigint> | undefined> {
  const petIds = new Set<bigint>();
  const onUnreadable = ({ petId }: UnreadableItem) => void petIds.add(petId);
  try {
    for await (const batch of connection.client.scanInventory({ onUnreadable })) {
      for (let index = 0; index < batch.length; index += 1) petIds.add(batch.petIdAt(index));
    }
    return petIds;
  } catch (error) {
    if (all || !(error instanceof UnavailableError || error instanceof RateLimitedError)) throw error;
    await invocation.messages.alert(`${error.message}. Pet ids are checked once the count is done`);
    return undefined;
  }
}

/** Reads lines until the count is done. @throws InterruptedError, which says what there is */
async function count(
  invocation: Invocation,
  counting: Counting,
  { isNew, isKept }: { readonly isNew: boolean; readonly isKept: boolean },
): Promise<void> {
  const { stdin, interrupted } = invocation.context;
  const { tally } = counting;
  const screen = createCountScreen(invocation, () => tally);
  const name = shortOf(counting.log.session);
  if (stdin.isTerminal) {
    const state = isNew ? '' : ` goes on: ${sumText(tally)}`;
    await invocation.messages.note(`Session ${name}${state}. Scan, or type a pet id and Enter.`);
    await invocation.messages.note('- takes the last back, = 42 7 sets, 42 x3 counts three; done or Ctrl-D ends.');
  }
  let isDone = false;
  try {
    await screen.begin();
    for await (const lines of linesOf(stdin.chunks)) {
      const taken = counting.take(lines);
      isDone = taken.isDone;
      if (!isDone) interrupted.throwIfAborted();
      // What came in one piece with the end is said, too.
      if (!isDone || taken.events.length > 0) await screen.show(taken.events);
      if (isDone) break;
    }
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    const kept = isKept
      ? `session ${name} keeps ${sumText(tally)}`
      : 'nothing of the dry run is kept, and the sessions to merge are as they were';
    throw error.with({ message: `Interrupted; ${kept}` });
  } finally {
    if (!interrupted.aborted) await screen.stop(!isDone);
  }
}
