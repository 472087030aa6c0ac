import type { SessionEnd } from '../../../../counts/records.ts';
import { DamagedSession } from '../../../../counts/session-tables.ts';
import { type SessionFacts, type Sessions, tallyOf } from '../../../../counts/sessions.ts';
import { type CountFacts, countListView } from '../../../../output/count-list-view.ts';
import { sumText } from '../../../../output/count-text.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { withSessions } from './with-sessions.ts';

/** Lists all sessions, the newest first. */
export async function listSessions(invocation: Invocation): Promise<void> {
  const { globals, where, results } = invocation;
  const found = await withSessions(invocation, async (sessions) => sessions.list(true), { looksOnly: true });
  const shown = (found ?? []).filter(
    ({ head }) =>
      (globals.env === undefined || head.env === where.env) &&
      (globals.store === undefined || head.store === where.store),
  );
  await results.print(countListView(shown.map(factsOf)));
}

/** Gives a session up, once a person has agreed. What it holds stays on disk; one that is finished is removed. */
export function discardSession(invocation: Invocation, text: string): Promise<void> {
  return withSessions(invocation, (sessions) => discard(invocation, sessions, text));
}

async function discard({ questions, messages }: Invocation, sessions: Sessions, text: string): Promise<void> {
  const found = findAny(sessions, text);
  const isDamaged = found instanceof DamagedSession;
  const { session } = isDamaged ? found : found.head;
  const name = session.slice(-4);
  const removes = isDamaged || found.end !== undefined;
  const what = isDamaged ? 'damaged' : `${stateOf(found)}: ${sumText(tallyOf(found))}`;
  await questions.confirm(`${removes ? 'Remove' : 'Discard'} session ${name} (${what})?`);
  if (removes) sessions.remove(session);
  else sessions.discard(found);
  await messages.note(`Session ${name} is ${removes ? 'removed' : 'discarded'}.`);
}

function findAny(sessions: Sessions, text: string): SessionFacts | DamagedSession {
  try {
    return sessions.find(text);
  } catch (error) {
    if (error instanceof DamagedSession) return error;
    throw error;
  }
}

function factsOf(session: SessionFacts): CountFacts {
  const { mode, at, env, store, session: id } = session.head;
  const { scans, pets, units, unknownUnits: unknown } = tallyOf(session);
  const became = session.end && becameOf(session.end);
  return { session: id, mode, at, env, store, scans, pets, units, unknown, state: stateOf(session), became };
}

function stateOf({ end, holder }: SessionFacts): CountFacts['state'] {
  return end?.how ?? (holder === undefined ? 'open' : 'counting');
}

function becameOf(end: SessionEnd): string | undefined {
  switch (end.how) {
    case 'applied':
      return end.run ?? undefined;
    case 'written':
      return end.file;
    case 'merged':
      return end.into;
    default:
      return undefined;
  }
}
