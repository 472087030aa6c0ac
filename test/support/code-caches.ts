import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Home, type ProgramOptions, runProgram, temporaryHome } from './program.ts';

/** Command lines that need no service. Their caches exist before the tests that damage them. */
export const commands = ['history list --json', 'config list', 'inventory apply --help'] as const;

/** The variables with which the program keeps its cache in its home. */
const on = { PETSTOCK_NO_CACHE: undefined, XDG_CACHE_HOME: undefined };

export const folderOf = (home: Home): string => join(home.folder, '.cache', 'petstock');

export function cachesIn(home: Home): readonly string[] {
  if (!existsSync(folderOf(home))) return [];
  return readdirSync(folderOf(home)).map((name) => join(folderOf(home), name));
}

export function runCached(home: Home, command: string, options: ProgramOptions = {}) {
  return runProgram(command, { home, ...options, env: { ...on, ...options.env } });
}

/** The caches and the output of the first home, for later homes too, because a cache does not depend on the home. */
let warmed: Promise<{ readonly caches: ReadonlyMap<string, Buffer>; readonly printed: ReadonlyMap<string, unknown> }>;

/** Returns a home in which `commands` have kept their caches, and what each has printed. */
export async function warmHome() {
  const home = temporaryHome();
  if (warmed === undefined) {
    warmed = warm(home);
    return { home, printed: (await warmed).printed };
  }
  const { caches, printed } = await warmed;
  mkdirSync(folderOf(home), { mode: 0o700, recursive: true });
  for (const [name, bytes] of caches) writeFileSync(join(folderOf(home), name), bytes, { mode: 0o600 });
  return { home, printed };
}

async function warm(home: Home) {
  for (const command of commands) await runCached(home, command);
  const printed = new Map<string, unknown>();
  for (const command of commands) printed.set(command, await runCached(home, command));
  return { caches: new Map(cachesIn(home).map((path) => [basename(path), readFileSync(path)])), printed };
}

/**
 * Damages the cache file at `path`.
 * @param random returns numbers from 0 to 1
 */
export type Damage = (path: string, random: () => number) => void;

const changed = (change: (bytes: Buffer, random: () => number) => Buffer): Damage => {
  return (path, random) => writeFileSync(path, change(readFileSync(path), random));
};
const somewhere = (bytes: Buffer, random: () => number) => Math.floor(random() * bytes.length);

/** The ways in which a cache file can differ from what was written. */
export const damages: Readonly<Record<string, Damage>> = {
  cut: changed((bytes, random) => bytes.subarray(0, somewhere(bytes, random))),
  empty: changed(() => Buffer.alloc(0)),
  zeroed: changed((bytes, random) => bytes.fill(0, somewhere(bytes, random))),
  flipped: changed((bytes, random) => {
    const at = somewhere(bytes, random);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    return bytes;
  }),
  longer: changed((bytes) => Buffer.concat([bytes, Buffer.from('more')])),
  /** An intact cache of another program, command or Node whose file has the same name. */
  'with another key': changed((bytes) => {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    return bytes;
  }),
};
