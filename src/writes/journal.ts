import type { Invocation } from '../cli/invocation/invocation.ts';
import { type Journal, openJournal } from '../history/journal.ts';
import type { JournalChange, RunHead } from '../history/records.ts';
import type { BulkSession } from './session.ts';

/** What a new run is about, besides where it goes and who runs it. */
export type RunSubject = Pick<RunHead, 'command' | 'file' | 'undoes'>;

/** Opens the journal of a new run, once that is wanted. */
export function createJournal({ context }: Invocation, { connection }: BulkSession, subject: RunSubject) {
  return async (changes: readonly JournalChange[], unchanged: number): Promise<Journal> => {
    const { clock, random, folders, env, processes } = context;
    const { environment, baseUrl, scope } = connection;
    const user = env.USER ?? env.LOGNAME ?? env.USERNAME;
    const journal = await openJournal(
      { ...subject, env: environment, baseUrl, key: scope, user },
      { stateFolder: folders.state, now: () => clock.now(), random, pid: processes.pid, boot: clock.boot() },
    );
    await journal.plan(changes, unchanged);
    return journal;
  };
}
