import { existsSync } from 'node:fs';
import { Sessions } from '../../../../counts/sessions.ts';
import type { Invocation } from '../../../invocation/invocation.ts';

/**
 * Runs `work` on the sessions of this machine, and closes them. They are in its own state, also if a shared one is set.
 * @param looksOnly nothing is made: without a state there are no sessions, and the result is undefined
 */
export async function withSessions<T>(
  invocation: Invocation,
  work: (sessions: Sessions) => Promise<T>,
  options: { readonly looksOnly: true },
): Promise<T | undefined>;
export async function withSessions<T>(invocation: Invocation, work: (sessions: Sessions) => Promise<T>): Promise<T>;
export async function withSessions<T>(
  { context, messages }: Invocation,
  work: (sessions: Sessions) => Promise<T>,
  { looksOnly = false }: { readonly looksOnly?: boolean } = {},
): Promise<T | undefined> {
  const { clock, processes, random, folders } = context;
  const { openLocalConnection } = await import('../../../../state/open-state.ts');
  const { stateFile } = await import('../../../../state/sqlite/state-file.ts');
  if (looksOnly && !existsSync(stateFile(folders.state))) return undefined;
  const warn = (line: string) => void messages.warn(line);
  const system = { clock, processes, random, warn };
  const connection = await openLocalConnection({
    ...{ ...system, folder: folders.state, need: 'history', command: 'inventory count', looks: looksOnly },
  });
  const sessions = new Sessions(connection, system);
  try {
    return await work(sessions);
  } finally {
    sessions.close();
  }
}
