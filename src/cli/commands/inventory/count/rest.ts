import { createHash } from 'node:crypto';
import type { ScanRecord, SessionContent, SessionFacts, SessionHead } from '../../../../counts/session-tables.ts';
import { type Sessions, shortOf, tallyOf } from '../../../../counts/sessions.ts';
import { grouped } from '../../../../inventory/items.ts';
import type { RunRecord } from '../../../../inventory/run-records.ts';
import { PetstockError, UsageError } from '../../../../shared/errors.ts';
import { sentence } from '../../../../shared/parsed.ts';
import { whereOptions } from '../../../../shared/where.ts';
import { unclear } from '../../../../writes/classify-failure.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import { petOfText } from '../../../shop-codes.ts';
import type { FlagValues } from '../../option-values.ts';
import { requireOpen } from './choose-session.ts';
import { type CountOptions, commandFor } from './count-options.ts';
import { withSessions } from './list-sessions.ts';

/** Returns what a run remembers its session by, so that a crash after its beginning can't make two runs of it. */
export function hashOf({ head }: { readonly head: Pick<SessionHead, 'session'> }): string {
  return createHash('sha256').update(`inventory count ${head.session}`).digest('hex');
}

/**
 * Returns the run of a session, and what was counted of the pets that it has not written, but no increment that may have been written; nothing
 * if it is not finished. undefined if there is no run.
 */
export async function restOf({ connection }: RunAccess, session: SessionContent & Pick<SessionFacts, 'end'>) {
  const { history } = connection.state;
  const [run] = await history.runsOfFile(connection.service, hashOf(session));
  if (run === undefined) return undefined;
  const scans: ScanRecord[] = [];
  if (run.state !== 'done') return { run, scans };
  const left = session.end?.how === 'applied' ? (session.end.left ?? []).map(BigInt) : [];
  for await (const { petId, error } of history.rows(run.run, ['conflict', 'failed'])) {
    if (error?.code !== unclear || session.head.mode === 'count') left.push(petId);
  }
  const tally = tallyOf(session, (code) => petOfText(session.codes, code));
  for (const pet of left) scans.push({ kind: 'base', units: tally.unitsOf(pet), code: `${pet}`, pet });
  return { run, scans };
}

type Rest = NonNullable<Awaited<ReturnType<typeof restOf>>>;

/** @throws UsageError if there is nothing of a session to go on with */
export function requireLeft(session: SessionFacts, { run, scans }: Rest, options: CountOptions): void {
  const name = shortOf(session);
  if (run.state === 'incomplete') {
    throw new UsageError(`Session ${name} was applied, and run ${run.run} of it is not finished; nothing was sent`, {
      hint: `petstock inventory apply --resume ${run.run} ${whereOptions(run)}`,
    });
  }
  if (scans.length === 0) {
    if (run.state === 'done') requireOpen(session, options);
    throw new UsageError(`Session ${name} was applied, by run ${run.run}; nothing was sent`, {
      hint: `petstock history show ${run.run}`,
    });
  }
  if (options.all) throw new UsageError(`Session ${name} was applied but for ${petsText(scans)}: leave --all out`);
}

/** Begins a session with what the run of one has left, if anything. Returns the error of the run, which then names it. */
export async function withRest(
  run: RunAccess,
  sessions: Sessions,
  { head }: Pick<SessionFacts, 'head'>,
  { error, flags }: { readonly error: unknown; readonly flags: FlagValues },
): Promise<unknown> {
  if (!(error instanceof PetstockError)) return error;
  const session = sessions.find(head.session);
  const rest = await restOf(run, session);
  if (rest === undefined || rest.scans.length === 0) return error;
  const open = sessions.follow(session, rest.scans);
  open.close();
  const name = shortOf(open);
  const message = `${sentence(error.message)} Session ${name} has what was counted of ${petsText(rest.scans)}`;
  return error.with({ message, hint: commandFor(` ${name}`, flags, run.invocation.where) });
}

/** As `withRest`, of the session on this machine that a run is of, which is finished with that. @param error undefined: none */
export function withRestOfRun(access: RunAccess, { run, contentHash }: RunRecord, error: unknown): Promise<unknown> {
  return withSessions(access.invocation, async (sessions) => {
    const counted = sessions.list(true).find((each) => hashOf(each) === contentHash);
    if (counted === undefined) return error;
    if (counted.end === undefined) sessions.take(counted).end({ how: 'applied', run });
    return withRest(access, sessions, counted, { error, flags: {} });
  });
}

const mostNamed = 5;

function petsText(scans: readonly ScanRecord[]): string {
  const names = scans.map(({ code }) => code);
  const rest = names.length - mostNamed;
  const more = rest > 0 ? ` and ${grouped(rest)} more` : '';
  return `${names.length === 1 ? 'pet' : 'pets'} ${names.slice(0, mostNamed).join(', ')}${more}`;
}
