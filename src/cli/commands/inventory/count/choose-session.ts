import { accountOf, isPartial } from '../../../../counts/account.ts';
import type { CountSessions } from '../../../../counts/count-sessions.ts';
import { type CountSession, type CountSessionHead, shortOf } from '../../../../counts/session-tables.ts';
import type { CountMode } from '../../../../inventory/count/tally.ts';
import { grouped } from '../../../../inventory/items.ts';
import { modeName, sumText } from '../../../../output/count-text.ts';
import { localTime } from '../../../../output/time.ts';
import { UsageError } from '../../../../shared/errors.ts';
import { petstock } from '../../../../shared/hint.ts';
import { quoted } from '../../../../shared/parsed.ts';
import { singleLine } from '../../../../shared/sanitize.ts';
import { targetName } from '../../../../shared/target.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { type CountOptions, commandFor } from './count-options.ts';

/**
 * Returns the session to resume, or the sessions to merge; none if a new session has to begin.
 * @throws the errors of `CountSessions.find`; UsageError if a session can't be used with the options, or, without a
 * terminal, if none is named and one is unfinished
 */
export async function chooseSessions(
  invocation: Invocation,
  sessions: CountSessions,
  options: CountOptions,
): Promise<readonly CountSession[]> {
  const { session, merge } = options;
  const named = merge ?? (session === undefined ? undefined : [session]);
  if (named === undefined) return options.new ? [] : newestUnfinished(invocation, sessions, options);
  const found = named.map((text) => sessions.find(text));
  if (merge !== undefined && new Set(found.map(({ head }) => head.session)).size < Math.max(2, found.length)) {
    throw new UsageError('--merge takes two or more different sessions', { hint: 'petstock inventory count --list' });
  }
  for (const each of found) {
    // An applied session is accepted here, because version 0.2 may have applied it with a run that has to be resumed.
    if (merge !== undefined || each.end?.how !== 'applied') requireOpen(each, invocation);
    requireFitting(each, invocation, options);
    requireAlike(found[0] ?? each, each);
  }
  return found;
}

async function newestUnfinished(
  invocation: Invocation,
  sessions: CountSessions,
  options: CountOptions,
): Promise<readonly CountSession[]> {
  const { context, questions, messages } = invocation;
  const { mode = 'count', all = false, label } = options;
  const fits = (session: CountSession) => {
    const { head } = session;
    return head.mode === mode && (label === undefined || head.label === label) && !(all && isPartial(session));
  };
  // Leaves out sessions in which another process is counting.
  const open = sessions.list(false).filter(({ head, holder }) => isAt(head, invocation) && holder === undefined);
  const newest = open.find(fits);
  const [first] = newest === undefined ? open : [newest];
  if (first === undefined) return [];
  const when = localTime(first.head.at, context.clock.now());
  const by = first.head.user === undefined ? '' : ` by ${singleLine(first.head.user)}`;
  const what = `Session ${nameText(first, mode)}, begun at ${when}${by}, is not finished`;
  if (!context.stdin.isTerminal || !context.stderr.isTerminal) throw unfinished(invocation, first, mode, what);
  const others = open.filter((session) => session !== newest);
  if (others.length > 0) {
    const which = others.length === 1 ? 'Another session is' : `${grouped(others.length)} other sessions are`;
    const more = others.length > maxNamed ? ', …' : '';
    const names = `${others
      .slice(0, maxNamed)
      .map((other) => nameText(other, mode))
      .join(', ')}${more}`;
    await messages.note(`${which} not finished: ${names}. To see all: petstock inventory count --list`);
  }
  // Enter must not resume a session of another kind or, with --all, a session that was partly written.
  if (newest === undefined) return [];
  const question = `${what} (${sumText(accountOf(newest).tally)}). Resume it? (Enter: yes, n: start a new session)`;
  const isResumed = !questions.willAsk() || (await confirmResume(questions, question));
  return isResumed ? [newest] : [];
}

const maxNamed = 3;

/**
 * Returns the error for a script, because a script can't answer a question. The hint never resumes a session of another
 * kind: a stock-take would replace the stock with the units of a delivery.
 */
function unfinished(invocation: Invocation, session: CountSession, mode: CountMode, what: string): UsageError {
  if (session.head.mode !== mode) {
    const why = `It can't be resumed as ${modeName(mode)}`;
    return new UsageError(`${what}. ${why}. Nothing was counted. Start a new session with --new`, {
      hint: commandFor(invocation, ['--new']),
    });
  }
  const { tally, handedOver, isSettled } = accountOf(session);
  const rest = isSettled && handedOver.size === 0 ? '' : ', besides units that were being written';
  const held = `It already holds ${sumText(tally, mode)}${rest}`;
  const ways = 'Resume it only with scans that it does not have yet, or start a new session with --new';
  return new UsageError(`${what}. ${held}. Nothing was counted. ${ways}`, {
    hint: commandFor(invocation, [shortOf(session)], isPartial(session) ? { all: undefined } : {}),
  });
}

/**
 * Returns, for example, `k3x9 "aisle 3" (a count of units that came in, with --add)`. Leaves out the kind if both the
 * session and the command are stock-takes.
 */
function nameText(session: CountSession, typed: CountMode): string {
  const { label, mode } = session.head;
  const named = label === undefined ? '' : ` ${quoted(label)}`;
  return `${shortOf(session)}${named}${mode === 'count' && typed === 'count' ? '' : ` (${modeName(mode)})`}`;
}

/**
 * Asks whether to resume a session. Enter resumes it. Text that is scanned at the prompt is not an answer, so the
 * question is repeated.
 */
async function confirmResume(questions: Invocation['questions'], question: string): Promise<boolean> {
  for (let asked = question; ; ) {
    const answer = (await questions.text(asked)).trim();
    if (/^(?:y|yes)?$/i.test(answer)) return true;
    if (/^(?:n|no)$/i.test(answer)) return false;
    asked = `${JSON.stringify(answer.slice(0, 40))} is not an answer, and was not counted. ${question}`;
  }
}

/** @throws UsageError if two sessions can't be merged */
function requireAlike(first: CountSession, session: CountSession): void {
  const { service, mode } = session.head;
  const both = `Sessions ${shortOf(first)} and ${shortOf(session)}`;
  if (service !== first.head.service)
    throw new UsageError(`${both} can't be merged: they are for two different services`);
  if (mode !== first.head.mode) {
    throw new UsageError(`${both} can't be merged: one is ${modeName(first.head.mode)}, the other ${modeName(mode)}`);
  }
}

/** @throws UsageError with the outcome of a session that is finished */
export function requireOpen(session: CountSession, invocation: Invocation): void {
  const { end, head } = session;
  if (end === undefined) return;
  const finished = `Session ${shortOf(session)} is finished`;
  const was = `${finished}: it was`;
  switch (end.how) {
    case 'applied':
      if (end.run === null) throw new UsageError(`${finished}: its count was the same as the stock`);
      throw new UsageError(`${was} applied, by run ${end.run}`, { hint: petstock`history show ${end.run}` });
    case 'written':
      throw new UsageError(`${was} written to ${end.file}`);
    case 'merged':
      throw new UsageError(`${was} merged into session ${end.into.slice(-4)}`, {
        hint: commandFor(invocation, [end.into.slice(-4)], {}, head),
      });
    default:
      throw new UsageError(`${was} discarded`, { hint: commandFor(invocation, ['--new'], {}, head) });
  }
}

/** @throws UsageError unless a session belongs to the target and fits the options */
function requireFitting(session: CountSession, invocation: Invocation, { mode, all }: CountOptions): void {
  const { head } = session;
  const name = shortOf(session);
  const is = modeName(head.mode);
  if (!isAt(head, invocation)) {
    const targets = `${targetName(head)}, not ${targetName(invocation.target)}`;
    const hint = commandFor(invocation, [name], {}, head);
    throw new UsageError(`Session ${name} is for ${targets}. Nothing was sent`, { hint });
  }
  if (mode !== undefined && mode !== head.mode) {
    throw new UsageError(`Session ${name} is ${is}, so --${mode} can't be used with it. Leave out --${mode}`);
  }
  if (all && isPartial(session)) {
    throw new UsageError(`Session ${name} was partly written, and --all would set that part to 0. Leave out --all`);
  }
  if (all && head.mode !== 'count')
    throw new UsageError(`Session ${name} is ${is}, so --all can't be used with it. Leave out --all`);
}

function isAt(head: CountSessionHead, { target }: Invocation): boolean {
  return head.env === target.env && head.store === target.store;
}
