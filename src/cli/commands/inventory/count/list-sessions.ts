import { accountOf, hashOf } from '../../../../counts/account.ts';
import { CountSessions } from '../../../../counts/count-sessions.ts';
import { type CountSession, DamagedCountSession, record } from '../../../../counts/session-tables.ts';
import { sumText } from '../../../../output/count-text.ts';
import { isoTime, localMinute } from '../../../../output/time.ts';
import { type Column, plainColumns, type Row, type View } from '../../../../output/view.ts';
import { targetName } from '../../../../shared/target.ts';
import type { SqliteConnection } from '../../../../state/sqlite/connection.ts';
import { StateNotes } from '../../../../state/state-notes.ts';
import { isNamed } from '../../../invocation/globals.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { readLocalTables, withExistingState, withLocalTables } from '../../../invocation/state-access.ts';
import { printOutcome } from '../../print-record.ts';

/** Runs `work` with this machine's sessions, which are in its own state even if a shared one is configured. */
export function withSessions<T>(invocation: Invocation, work: (sessions: CountSessions) => Promise<T>): Promise<T> {
  const use = { ...invocation, command: 'inventory count' };
  return withLocalTables(use, (connection) => work(sessionsIn(connection, invocation)));
}

function sessionsIn(connection: SqliteConnection, { context, messages }: Invocation): CountSessions {
  const { clock, processes, random } = context;
  return new CountSessions(connection, { clock, processes, random, warn: (line) => void messages.warn(line) });
}

/**
 * Prints the sessions of this machine, for the target that options and variables name.
 * @param closed whether to include finished sessions
 */
export async function listSessions(invocation: Invocation, closed: boolean): Promise<void> {
  const found = await readLocalTables(invocation, (connection) => sessionsIn(connection, invocation).list(closed));
  const named = (found ?? []).filter(({ head }) => isNamed(invocation, head));
  const listed: ListedSession[] = [];
  for (const session of named) listed.push(await listedOf(invocation, session));
  await invocation.results.print(sessionsView(listed, targetName(invocation.target)));
}

interface ListedSession extends CountSession {
  /** Whether the session is open, but may have been applied by a run that the history lacks. */
  readonly isDoubtful: boolean;
}

/** Returns a session, with the units that it has handed over if it is not known whether they were applied. */
async function listedOf(invocation: Invocation, session: CountSession): Promise<ListedSession> {
  if (!(await isDoubtful(invocation, session))) return { ...session, isDoubtful: false };
  return { ...session, scans: [...session.scans, record('settled')], isDoubtful: true };
}

/**
 * Reports whether a session may have been applied by a run that the history lacks, for example because an older copy of
 * the state was restored.
 */
async function isDoubtful(invocation: Invocation, session: CountSession): Promise<boolean> {
  const { head, end, holder } = session;
  if (end !== undefined || holder !== undefined) return false;
  const { service: serviceName } = head;
  const content = { serviceName, contentHash: hashOf(session) };
  const isHandedOver = accountOf(session).handedOver.size > 0;
  const begun = new StateNotes(invocation.context.folders.state).stateOf(content);
  if (!isHandedOver && begun === undefined) return false;
  return withExistingState(invocation, async (state) => {
    if (state === undefined) return true;
    const { history } = state;
    if (isHandedOver) return (await history.runsOfFile(serviceName, content.contentHash)).length === 0;
    return history.mayHaveBegun(content);
  }).catch(() => true);
}

/** Discards a session after confirmation; its content stays on disk. Removes a session that is finished or damaged. */
export function discardSession(invocation: Invocation, text: string): Promise<void> {
  return withSessions(invocation, async (sessions) => {
    const found = await findAny(invocation, sessions, text);
    const isDamaged = found instanceof DamagedCountSession;
    const { session } = isDamaged ? found : found.head;
    const name = session.slice(-4);
    const removes = isDamaged || found.end !== undefined;
    const what = isDamaged ? 'damaged' : `${stateOf(found)}: ${sumText(accountOf(found).tally)}`;
    const question = `${removes ? 'Remove' : 'Discard'} session ${name} (${what})?`;
    await invocation.questions.confirm({ question, notDone: 'The session was not changed' });
    if (removes) sessions.remove(session);
    else sessions.discard(found);
    const became = removes ? 'removed' : 'discarded';
    await invocation.messages.note(`Session ${name} is ${became}.`);
    await printOutcome(invocation, { session, became });
  });
}

async function findAny(invocation: Invocation, sessions: CountSessions, text: string) {
  try {
    return await listedOf(invocation, sessions.find(text));
  } catch (error) {
    if (error instanceof DamagedCountSession) return error;
    throw error;
  }
}

/**
 * Returns a view of sessions.
 * @param target the target of the command. A table has no column of targets if all sessions are for this one
 */
function sessionsView(sessions: readonly ListedSession[], target: string): View {
  return {
    shape: 'list',
    isWordy: true,
    columns: plainColumns(fields),
    rows: [sessions.map(rowOf)],
    table: { columns: columnsFor(target), rows: [sessions.map(tableRow)] },
  };
}

const fields = [
  ...['session', 'mode', 'at', 'env', 'store', 'scans', 'pets', 'units', 'unknown', 'state', 'became'],
  ...['label', 'user'],
];

function rowOf(session: ListedSession): Row {
  const { mode, at, env, store = null, session: id, label = null, user = null } = session.head;
  const { scans, pets, units, unknownUnits: unknown } = accountOf(session).tally;
  const { run, file, into } = { run: null, file: null, into: null, ...session.end };
  const [state, became] = [stateOf(session), run ?? file ?? into];
  return { session: id, mode, at: isoTime(at), env, store, scans, pets, units, unknown, state, became, label, user };
}

const columnsFor = (target: string): readonly Column[] => [
  { field: 'name', title: 'Session', whole: true },
  { field: 'at', title: 'At' },
  { field: 'label', title: 'Label', foreign: 'name' },
  { field: 'user', title: 'By', foreign: 'name' },
  { field: 'mode', title: 'Mode' },
  { field: 'env', title: 'Env', whole: true, usual: target },
  { field: 'scans', title: 'Scans', align: 'right' },
  { field: 'pets', title: 'Pets', align: 'right' },
  { field: 'units', title: 'Units', align: 'right' },
  { field: 'unknown', title: 'Unknown', align: 'right' },
  { field: 'state', title: 'State' },
];

function tableRow(session: ListedSession): Row {
  const { head } = session;
  const shown = { name: head.session.slice(-4), at: localMinute(head.at), env: targetName(head) };
  return { ...rowOf(session), ...shown, state: stateText(session) };
}

/** Returns the state of a session: `unknown` if it is not known whether the session was applied. */
function stateOf({ end, holder, isDoubtful }: ListedSession): string {
  if (isDoubtful) return 'unknown';
  return end?.how ?? (holder === undefined ? 'open' : 'counting');
}

/** Returns the state, with the resulting run, file or session: `applied by k3x9`. */
function stateText(session: ListedSession): string {
  const { end } = session;
  if (end?.how === 'written') return `written to ${end.file}`;
  if (end?.how === 'merged') return `merged into ${end.into.slice(-4)}`;
  return end?.how === 'applied' && end.run !== null ? `applied by ${end.run.slice(-4)}` : stateOf(session);
}
