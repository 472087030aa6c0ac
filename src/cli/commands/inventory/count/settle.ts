import { accountOf, hashOf } from '../../../../counts/account.ts';
import type { OpenCountSession } from '../../../../counts/open-count-session.ts';
import { record, type ScanRecord, type SessionContent, shortOf } from '../../../../counts/session-tables.ts';
import { isUnclear } from '../../../../inventory/change.ts';
import { counted, grouped } from '../../../../inventory/items.ts';
import type { RunRecord } from '../../../../inventory/run-records.ts';
import { sumText } from '../../../../output/count-text.ts';
import { countUnclearRows } from '../../../../runs/plan-undo.ts';
import { NotFoundError, PetstockError, UsageError } from '../../../../shared/errors.ts';
import { type FlagValues, petstock, targetWords } from '../../../../shared/hint.ts';
import { sentence } from '../../../../shared/parsed.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import { commandFor } from './count-options.ts';
import { withSessions } from './list-sessions.ts';

/**
 * Finds the run that took the units of a session. Gives the session back the units that the run has not written and
 * will not write: those of a delivery, and counts that the service rejected. Ends a session with nothing left.
 * @param mayReturnUnits whether the session gets its units back if the history lacks the run (it may have been removed)
 * @returns the pets to count again, because their stock has changed or it is not known whether they were written
 * @throws UsageError while the run is unfinished, and if it is not known whether it has begun
 */
export async function settle(
  access: RunAccess,
  session: OpenCountSession,
  mayReturnUnits: boolean,
): Promise<readonly bigint[]> {
  const { history } = access.connection.state;
  const account = accountOf(session);
  const [begun] = await history.runsOfFile(access.connection.serviceName, hashOf(session));
  if (begun !== undefined) {
    // A session of version 0.2 has no record of what it handed over.
    const given = account.handedOver.size > 0 ? [] : [...account.tally.counts()];
    session.append([
      ...given.map(([pet, units]) => record('given', { pet, units })),
      record('run', { code: begun.run }),
    ]);
    return settle(access, session, mayReturnUnits);
  }
  if (account.handedOver.size > 0) {
    if (!mayReturnUnits) throw unknownRunError(access, session);
    session.append([record('settled')]);
  }
  const { run } = account;
  if (run === undefined) return [];
  const { again, left } = await unwrittenOf(access, session, run);
  if (!account.isSettled) session.append([...left, record('settled')]);
  if (accountOf(session).isEmpty) session.end({ how: 'applied', run });
  return account.isSettled ? [] : again;
}

async function unwrittenOf(access: RunAccess, session: SessionContent, run: string) {
  const { history } = access.connection.state;
  const again: bigint[] = [];
  const left: ScanRecord[] = [];
  if ((await endedRun(access, session, run)) === undefined) return { again, left };
  for await (const { petId: pet, result, error, delta, after } of history.rows(run, unwritten)) {
    const mayBeWritten = result === 'unknown' || isUnclear({ result, error });
    if (delta === undefined) left.push(record('again', { pet }));
    if (delta === undefined && (result !== 'failed' || mayBeWritten)) again.push(pet);
    else if (!mayBeWritten) left.push(record('base', { pet, units: Math.abs(delta ?? after) }));
  }
  return { again, left };
}

/** The results of rows that were not written, or may not have been. Only a discarded run still has unknown rows. */
const unwritten = ['conflict', 'failed', 'unknown'] as const;

/**
 * Returns the ended run of a session; undefined if the history no longer has the run.
 * @throws UsageError if the run is unfinished
 */
async function endedRun({ connection }: RunAccess, session: SessionContent, run: string) {
  const found = await connection.state.history.run(run).catch((error: unknown) => {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  });
  if (found === undefined || found.state === 'done') return found;
  const message = `Session ${shortOf(session)} was applied, but its run ${run} is not finished. This command wrote nothing`;
  throw new UsageError(message, { hint: petstock`inventory apply --resume ${run} ${targetWords(found)}` });
}

/**
 * Checks the run that ended a session.
 * @throws UsageError if the run is unfinished, or has rows of unknown outcome
 */
export async function requireFinished(access: RunAccess, session: SessionContent, run: string): Promise<void> {
  const ended = await endedRun(access, session, run);
  const unknown = ended === undefined ? 0 : await countUnclearRows(access.connection.state, ended);
  if (unknown === 0) return;
  const rows = unknown === 1 ? '1 row was' : `${grouped(unknown)} rows were`;
  const message = `Session ${shortOf(session)} was applied by run ${run}. It is not known whether ${rows} written. This command wrote nothing`;
  throw new UsageError(message, { hint: petstock`history show ${run} --state conflict` });
}

function unknownRunError(access: RunAccess, session: SessionContent): UsageError {
  const message =
    `Session ${shortOf(session)} was about to be written, but the history has no run of it. Either its process was killed, or an earlier copy of the state was restored. ` +
    'It is not known whether anything was written. Write the counts to a file, check it, and apply the missing rows';
  return new UsageError(message, { hint: fileHint(access, session) });
}

/** Returns the command that writes the counts of a session to a file. */
export function fileHint({ invocation }: RunAccess, session: SessionContent): string {
  const name = shortOf(session);
  return commandFor({ ...invocation, options: { to: `count-${name}.csv` } }, [name]);
}

/** Adds to an error which units stay in the session, and which pets to count again. */
export function withLeft(
  error: unknown,
  { invocation }: RunAccess,
  session: OpenCountSession,
  flags: FlagValues,
  again: readonly bigint[] = [],
): unknown {
  const { tally } = accountOf(session);
  const isKept = session.isOpen && !tally.isEmpty;
  if (!(error instanceof PetstockError) || (!isKept && again.length === 0)) return error;
  const name = shortOf(session);
  const changed = again.length === 0 ? [] : [`Count ${petsText(again)} again`];
  const units =
    tally.pets > 0 ? sumText(tally, session.head.mode) : `${counted(tally.unknownUnits, 'unit')} of unknown codes`;
  const kept = isKept ? [`Session ${name} keeps ${units}`] : [];
  const message = [sentence(error.message), [...changed, ...kept].join('. ')].join(' ');
  return error.with({ message, hint: commandFor({ ...invocation, options: flags }, isKept ? [name] : []) });
}

/**
 * Settles the open session of this machine to which a resumed run belongs.
 * @returns the error to throw, with what is left in the session
 */
export function settleSessionOf(access: RunAccess, { run, contentHash }: RunRecord, error: unknown): Promise<unknown> {
  return withSessions(access.invocation, async (sessions) => {
    const isOfRun = (each: SessionContent) => accountOf(each).run === run || hashOf(each) === contentHash;
    const found = sessions.list(false).find(isOfRun);
    if (found === undefined) return error;
    const session = sessions.take(found);
    try {
      return withLeft(error, access, session, {}, await settle(access, session, false));
    } finally {
      session.close();
    }
  });
}

const maxNamed = 5;

function petsText(pets: readonly bigint[]): string {
  const rest = pets.length - maxNamed;
  const more = rest > 0 ? ` and ${grouped(rest)} more` : '';
  return `${pets.length === 1 ? 'pet' : 'pets'} ${pets.slice(0, maxNamed).join(', ')}${more}`;
}
