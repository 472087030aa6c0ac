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

/** Reports whether this process is in a group. */
export function isOwnGroup(gid: number): boolean {
  // biome-ignore lint/style/noRestrictedGlobals: an import would copy all properties of the process, 0.2 ms
  return process.getegid?.() === gid || process.getgroups?.().includes(gid) === true;
}

/** Returns the home folder of this user's account, whatever HOME is; undefined if there is no account. */
export function accountHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    // A container may run under a number without an account.
    return undefined;
  }
}

/** Returns the user's name, for the history and for other users; undefined if there is none. */
export function userOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = env.USER ?? env.LOGNAME ?? env.USERNAME;
  if (named !== undefined && named !== '') return named;
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number without a name.
    return undefined;
  }
}
