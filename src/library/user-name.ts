import { userInfo } from 'node:os';

/** Who runs this program, for the history and for others; undefined where there is no name. */
export function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that has no name.
    return undefined;
  }
}
