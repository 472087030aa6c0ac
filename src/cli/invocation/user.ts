import { userInfo } from 'node:os';
import { ownAccount } from '../../shared/account.ts';
import type { Context } from '../context.ts';

/** Who runs this, for the history and for others; undefined where there is no name. */
export function userOf(env: Context['env']): string | undefined {
  const named = env.USER ?? env.LOGNAME ?? env.USERNAME;
  if (named !== undefined && named !== '') return named;
  try {
    const { username } = userInfo();
    // What an executable says without USER, as with cron and in containers.
    return username === 'unknown' ? ownAccount()?.name : username;
  } catch {
    // A container may run under a number that has no name.
    return undefined;
  }
}
