import process from 'node:process';
import { FailureError } from '../../shared/errors.ts';

/** What is used of SQLite, by the names of `node:sqlite`. @photostructure/sqlite has the same. */
export interface Engine {
  readonly DatabaseSync: new (path: string, options?: DatabaseOptions) => Database;
}

/** @property timeout how long it waits for another process, in milliseconds */
interface DatabaseOptions {
  readonly readOnly?: boolean;
  readonly timeout?: number;
}

export interface Database {
  /** Runs statements that give no rows. */
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
  readonly isTransaction: boolean;
}

export interface Statement {
  run(...values: Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  get(...values: Value[]): Row | undefined;
  all(...values: Value[]): Row[];
}

/** An integer beyond 2^53 goes in as a bigint, and comes out as text: `CAST(pet_id AS TEXT)`. */
export type Value = string | number | bigint | null;
export type Row = Readonly<Record<string, string | number | null>>;

/**
 * SQLite as Node has it, or, before Node 22.18, as the package that goes with petstock has it.
 * @throws FailureError where there is neither
 */
export async function loadEngine(version = process.versions.node, load = loadFor): Promise<Engine> {
  try {
    return await load(version);
  } catch (cause) {
    const { message } = cause as Error;
    throw new FailureError(`SQLite can't be loaded on Node ${version} (${message}): use Node 22.18 or later`, {
      cause,
    });
  }
}

async function loadFor(version: string): Promise<Engine> {
  if (hasOwnEngine(version)) return quietly(() => import('node:sqlite' as string));
  return (await import('#sqlite')) as unknown as Engine;
}

/** @param version of Node. Before 22.18 its module lacks what is needed here. */
export function hasOwnEngine(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/** Node 22 warns on stderr that its module is experimental. Every other warning goes on. */
async function quietly<Result>(load: () => Promise<Result>): Promise<Result> {
  const emit = process.emitWarning;
  const filtered = (warning: string | Error, ...rest: never[]) => {
    const isOfEngine = rest.some((detail) => detail === 'ExperimentalWarning') && /sqlite/i.test(String(warning));
    if (!isOfEngine) emit.call(process, warning, ...rest);
  };
  process.emitWarning = filtered as typeof emit;
  try {
    return await load();
  } finally {
    process.emitWarning = emit;
  }
}
