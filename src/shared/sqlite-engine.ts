import { createRequire } from 'node:module';
import process from 'node:process';
import type * as Sqlite from '@photostructure/sqlite';

/** The bundle of the package beside the program: the build puts its path here. */
declare const SQLITE: string | undefined;

/**
 * SQLite as Node has it, or, before Node 22.18, as the package that goes with petstock has it: both have the same names.
 * A process must open a file with one of them only: two copies of SQLite don't see each other's locks.
 *
 * @throws where there is neither
 */
export function sqlite(): typeof Sqlite {
  if (hasOwnEngine()) return ownEngine();
  return createRequire(import.meta.url)(typeof SQLITE === 'string' ? SQLITE : '@photostructure/sqlite');
}

/** @param version of Node. Before 22.18 its module lacks what is needed here. */
export function hasOwnEngine(version = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/** Node 22 warns on stderr that its module is experimental. Every other warning goes on. */
function ownEngine(): typeof Sqlite {
  const emit = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!/sqlite is an experimental/i.test(String(warning))) emit.call(process, warning, ...rest);
  }) as typeof emit;
  try {
    return process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as typeof Sqlite;
  } finally {
    process.emitWarning = emit;
  }
}
