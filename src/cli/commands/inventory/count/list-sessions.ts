import type { SessionEnd } from '../../../../counts/records.ts';
import { shortOf } from '../../../../counts/session-log.ts';
import { type SessionFacts, tallyOf } from '../../../../counts/sessions.ts';
import { type CountFacts, countListView } from '../../../../output/count-list-view.ts';
import { sumText } from '../../../../output/count-text.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { requireOpen } from './choose-session.ts';
import { openSessions } from './open-sessions.ts';

/** Lists all sessions, the newest first. */
export async function listSessions(invocation: Invocation): Promise<void> {
  const { globals, where, results } = invocation;
  const sessions = openSessions(invocation).list(true);
  const shown = sessions.filter(
    ({ head }) =>
      (globals.env === undefined || head.env === where.env) &&
      (globals.store === undefined || head.store === where.store),
  );
  await results.print(countListView(shown.map(factsOf)));
}

/** Gives a session up, once a person has agreed. What it holds stays on disk. */
export async function discardSession(invocation: Invocation, text: string): Promise<void> {
  const sessions = openSessions(invocation);
  const found = sessions.find(text);
  requireOpen(found);
  const name = shortOf(found);
  await invocation.questions.confirm(`Discard session ${name} (${sumText(tallyOf(found))})?`);
  const log = sessions.open(found);
  try {
    sessions.end(log, { how: 'discarded' });
  } finally {
    log.close();
  }
  await invocation.messages.note(`Session ${name} is discarded.`);
}

function factsOf(session: SessionFacts): CountFacts {
  const { head, end, holder } = session;
  const { scans, pets, units, unknownUnits } = tallyOf(session);
  return {
    session: head.session,
    at: head.at,
    env: head.env,
    store: head.store,
    scans,
    pets,
    units,
    unknown: unknownUnits,
    state: end?.how ?? (holder === undefined ? 'open' : 'counting'),
    became: end && becameOf(end),
  };
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
