import type { ReadSession } from '../../../../counts/read-session.ts';
import { shortOf } from '../../../../counts/session-log.ts';
import { type SessionFacts, type Sessions, tallyOf } from '../../../../counts/sessions.ts';
import { grouped } from '../../../../inventory/grouped.ts';
import { sumText } from '../../../../output/count-text.ts';
import { localTime } from '../../../../output/time.ts';
import { FailureError, UsageError } from '../../../../shared/errors.ts';
import { type Where, whereName, whereOptions } from '../../../../shared/where.ts';
import type { Prompts } from '../../../context.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { requireSound, warnOfLostScan } from './require-sound.ts';

/** What is to be counted into. */
export type Choice =
  | { readonly kind: 'new' }
  | { readonly kind: 'continue'; readonly session: SessionFacts }
  | { readonly kind: 'merge'; readonly sessions: readonly SessionFacts[] };

export interface ChoiceOptions {
  readonly session: string | undefined;
  readonly isNew: boolean;
  readonly merge: readonly string[] | undefined;
  /** The options of the command that a hint repeats, by `planWords`. */
  readonly words: string;
}

/**
 * Finds the session that is meant, before anything is asked of its environment.
 * @throws UsageError where one is unfinished and a person can't be asked about it; for sessions that can't be counted on or merged
 */
export async function chooseSession(
  invocation: Invocation,
  sessions: Sessions,
  { session, isNew, merge, words }: ChoiceOptions,
): Promise<Choice> {
  if ([session !== undefined, isNew, merge !== undefined].filter(Boolean).length > 1) {
    throw new UsageError('A session, --new and --merge cannot be used together: leave out all but one');
  }
  if (merge !== undefined) {
    const found = toMerge(invocation, sessions, merge, words);
    for (const one of found) await warnOfLostScan(invocation, one);
    return { kind: 'merge', sessions: found };
  }
  if (session !== undefined) {
    const found = sessions.find(session);
    return goOn(invocation, found, words);
  }
  return isNew ? { kind: 'new' } : newOrUnfinished(invocation, sessions, words);
}

async function goOn(invocation: Invocation, session: SessionFacts, words: string): Promise<Choice> {
  requireOpen(session, words);
  if (session.hasHead) requirePlace(session, invocation, words);
  await requireSound(invocation, session);
  await warnOfLostScan(invocation, session);
  return { kind: 'continue', session };
}

async function newOrUnfinished(invocation: Invocation, sessions: Sessions, words: string): Promise<Choice> {
  const { where, context, questions, messages } = invocation;
  const { found, unreadable } = sessions.list(false);
  const [failure] = unreadable;
  // It may be a count of this shop that is not finished.
  if (failure !== undefined) {
    throw failure.with({ hint: failure.hint ?? `petstock inventory count --new${words} ${whereOptions(where)}` });
  }
  // What another process is at is that person's count.
  const open = found.filter(({ head, holder }) => isAt(head, where) && holder === undefined);
  const [newest, ...others] = open;
  if (newest === undefined) return { kind: 'new' };
  const name = shortOf(newest);
  const what = `Session ${name} of ${localTime(newest.head.at, context.clock.now())} is not finished`;
  if (!context.stdin.isTerminal || !context.stderr.isTerminal) {
    throw new UsageError(`${what}, and nothing was counted. Go on with it, or begin another with --new`, {
      hint: `petstock inventory count ${name}${words} ${whereOptions(where)}`,
    });
  }
  if (others.length > 0) {
    const rest = others.length === 1 ? 'is another one that is' : `are ${grouped(others.length)} others that are`;
    await messages.note(`There ${rest} not finished: petstock inventory count --list`);
  }
  const question = `${what} (${sumText(tallyOf(newest))}). Go on with it? Enter goes on, n begins another`;
  const goesOn = !questions.willAsk() || (await asksToGoOn(context.prompts, question));
  return goesOn ? goOn(invocation, newest, words) : { kind: 'new' };
}

/** Enter alone goes on. What is scanned at the question is no answer to it. */
async function asksToGoOn({ text }: Prompts, question: string): Promise<boolean> {
  for (let asked = question; ; ) {
    const answer = (await text(asked)).trim();
    if (/^(?:y|yes)?$/i.test(answer)) return true;
    if (/^(?:n|no)$/i.test(answer)) return false;
    asked = `${JSON.stringify(answer.slice(0, 40))} is not an answer, and was not counted. ${question}`;
  }
}

function toMerge(invocation: Invocation, sessions: Sessions, texts: readonly string[], words: string): SessionFacts[] {
  const found = texts.map((text) => sessions.find(text));
  const [first] = found;
  if (first === undefined || new Set(found.map(({ path }) => path)).size < Math.max(2, found.length)) {
    throw new UsageError('--merge takes two sessions or more, each once', { hint: 'petstock inventory count --list' });
  }
  for (const session of found) {
    requireOpen(session, words);
    if (session.damage.length > 0) {
      throw new FailureError(`Session ${shortOf(session)} is damaged, and can't be merged as it is`, {
        hint: `petstock inventory count ${shortOf(session)}${words} ${whereOptions(invocation.where)}`,
      });
    }
    requirePlace(session, invocation, words);
    if (session.head.service !== first.head.service) {
      throw new UsageError(`Sessions ${shortOf(first)} and ${shortOf(session)} are counts of two services`);
    }
  }
  return found;
}

/** @throws UsageError where a session is finished, with what became of it */
function requireOpen(session: ReadSession, words: string): void {
  const { end, head } = session;
  if (end === undefined) return;
  const was = `Session ${shortOf(session)} is finished: it was`;
  switch (end.how) {
    case 'applied':
      if (end.run === null)
        throw new UsageError(`Session ${shortOf(session)} is finished: it was the same as the stock`);
      throw new UsageError(`${was} applied, by run ${end.run}`, { hint: `petstock history show ${end.run}` });
    case 'written':
      throw new UsageError(`${was} written to ${end.file}`);
    case 'merged': {
      const into = end.into.slice(-4);
      throw new UsageError(`${was} merged into session ${into}`, {
        hint: `petstock inventory count ${into}${words} ${whereOptions(head)}`,
      });
    }
    case 'unreadable':
      throw new FailureError(`Session ${shortOf(session)} is finished, and damaged: how it ended can't be read`, {
        hint: `petstock inventory count --discard ${shortOf(session)}`,
      });
    default:
      throw new UsageError(`${was} discarded`, {
        hint: `petstock inventory count --new${words} ${whereOptions(head)}`,
      });
  }
}

function requirePlace(session: ReadSession, { where }: Invocation, words: string): void {
  if (isAt(session.head, where)) return;
  const counted = whereName(session.head);
  throw new UsageError(`Session ${shortOf(session)} counts ${counted}, not ${whereName(where)}; nothing was sent`, {
    hint: `petstock inventory count ${shortOf(session)}${words} ${whereOptions(session.head)}`,
  });
}

function isAt(head: Where, { store, env }: Where): boolean {
  return head.env === env && head.store === store;
}
