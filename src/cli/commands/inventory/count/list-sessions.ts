import type { SessionEnd } from '../../../../counts/records.ts';
import { shortOf } from '../../../../counts/session-log.ts';
import { type SessionFacts, tallyOf } from '../../../../counts/sessions.ts';
import { grouped } from '../../../../inventory/grouped.ts';
import { type CountFacts, countListView } from '../../../../output/count-list-view.ts';
import { sumText } from '../../../../output/count-text.ts';
import { FailureError } from '../../../../shared/errors.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { openSessions } from './open-sessions.ts';

/** Lists all sessions, the newest first. @throws FailureError behind the list, for files that can't be read */
export async function listSessions(invocation: Invocation): Promise<void> {
  const { globals, where, results } = invocation;
  const { found, unreadable } = openSessions(invocation).list(true);
  // A session that is damaged where it names its place may be of any.
  const shown = found.filter(
    ({ head, hasHead }) =>
      (globals.env === undefined || !hasHead || head.env === where.env) &&
      (globals.store === undefined || !hasHead || head.store === where.store),
  );
  await results.print(countListView(shown.map(factsOf)));
  const [failure, ...others] = unreadable;
  if (failure === undefined) return;
  if (others.length === 0) throw failure;
  const lines = unreadable.map(({ message }) => message);
  throw new FailureError(`${grouped(lines.length)} files of sessions can't be read`, { lines });
}

/**
 * Gives a session up, once a person has agreed. What it holds stays on disk; of one that is finished, or does not say what it
 * counts, the file is removed.
 */
export async function discardSession(invocation: Invocation, text: string): Promise<void> {
  const { questions, messages } = invocation;
  const sessions = openSessions(invocation);
  const found = sessions.find(text);
  const name = shortOf(found);
  const removes = found.end !== undefined || !found.hasHead;
  const what = `session ${name} (${stateOf(found)}: ${sumText(tallyOf(found))})`;
  await questions.confirm(removes ? `Remove the file of ${what}?` : `Discard ${what}?`);
  if (found.end === undefined) {
    const log = sessions.open(found);
    try {
      if (found.damage.length > 0) log.acceptDamage();
      if (!removes) sessions.end(log, { how: 'discarded' });
    } finally {
      log.close();
    }
  }
  if (removes) sessions.remove(found);
  await messages.note(`Session ${name} is ${removes ? 'removed' : 'discarded'}.`);
}

function factsOf(session: SessionFacts): CountFacts {
  const { head, hasHead, end } = session;
  const state = stateOf(session);
  const { scans, pets, units, unknownUnits } = tallyOf(session);
  return {
    session: head.session,
    at: head.at,
    env: hasHead ? head.env : undefined,
    store: head.store,
    scans,
    pets,
    units,
    unknown: unknownUnits,
    state,
    became: end && state !== 'damaged' ? becameOf(end) : undefined,
  };
}

function stateOf({ damage, end, holder }: SessionFacts): CountFacts['state'] {
  if (damage.length > 0 || end?.how === 'unreadable') return 'damaged';
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
