import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { effectiveUser } from './effective-user.ts';

/**
 * Returns the folder for gates, and for limits while the state folder can't be used. cron and sudo have the folder of a login,
 * and not its variable.
 */
export function runtimeFolder(
  { XDG_RUNTIME_DIR: runtime }: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean = existsSync,
): string {
  // A container may run under a number that has no name, of which `userInfo` would throw.
  const user = effectiveUser() ?? 'user';
  const usual = `/run/user/${user}`;
  if (runtime?.startsWith('/')) return join(runtime, 'petstock');
  return exists(usual) ? join(usual, 'petstock') : join(tmpdir(), `petstock-${user}`);
}
