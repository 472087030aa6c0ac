import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** Returns the uid that this process acts as; undefined on Windows, where files have no such owner. */
export function effectiveUser(): number | undefined {
  // biome-ignore lint/style/noRestrictedGlobals: an import would copy all properties of the process, 0.2 ms
  return process.geteuid?.();
}

const root = 0;

/** Reports whether a file belongs to this user or to root, or is on a system without owners. */
export function isOursOrRoots(owner: number): boolean {
  const user = effectiveUser();
  return user === undefined || owner === user || owner === root;
}

export interface Account {
  readonly name: string;
  /** An absolute path. It need not exist. */
  readonly home: string;
}

/**
 * Returns the account of this process from `/etc/passwd`; undefined if it has no name or home there. Executables need
 * this, because their `userInfo()` only repeats USER and HOME.
 */
export function ownAccount(file = '/etc/passwd', user = effectiveUser()): Account | undefined {
  try {
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const [name = '', , id, , , home = ''] = line.split(':');
      if (id === `${user}` && name !== '' && home.startsWith('/')) return { name, home };
    }
  } catch {
    // There is no such file on Windows, or in an image that contains only the program.
  }
  return undefined;
}

/** Returns the user's name, for the history and for other users; undefined if there is none. */
export function userOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = env.USER ?? env.LOGNAME ?? env.USERNAME;
  if (named !== undefined && named !== '') return named;
  try {
    const { username } = userInfo();
    // In an executable, `userInfo` returns `unknown` if USER is not set, as in cron jobs and containers.
    return username === 'unknown' ? ownAccount()?.name : username;
  } catch {
    // A container may run under a number without a name.
    return undefined;
  }
}
