import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { ownerOf } from '../src/settings/folders.ts';
import { version } from '../src/shared/version.ts';
import { cacheFolderOf } from './folders.ts';

/**
 * Loads a script of the build and the scripts that it requires, with the code that V8 compiled in an earlier run that
 * succeeded. With the cache, `--help` takes 1.8 times the CPU of `node -e 0` instead of 3.3 times, and `inventory list`
 * 3.1 times instead of 5.2 (Node 20, November 2026). Node's own compile cache (22.1 and later) leaves out functions
 * that are compiled late; a list takes 5.1 times with it. To do without the cache, delete this file and let
 * `bin/installed.ts` require the script.
 * @param name `./program.cjs`
 * @param words the words of the command line; each command has its own cache
 * @param requireElse loads a module that is not a script in the folder of the build, or any script if there is no cache
 */
export function loadCached<Module>(name: string, words: readonly string[], requireElse: NodeJS.Require): Module {
  const cache = openCodeCache(words, process.env);
  if (cache === undefined) return requireElse(name);
  process.once('exit', (code) => code === 0 && cache.keep());
  const modules = new Map<string, { exports: unknown }>();
  const load = (wanted: string): unknown => {
    if (!/^\.\/\w+\.cjs$/.test(wanted)) return requireElse(wanted);
    const known = modules.get(wanted);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    modules.set(wanted, module);
    const filename = join(import.meta.dirname, wanted);
    cache.compile(filename).runInThisContext()(module.exports, load, module, filename, dirname(filename));
    return module.exports;
  };
  return load(name) as Module;
}

/**
 * If the folder has this many files, the oldest are removed before new ones are written. Some belong to other versions,
 * or to commands that are no longer used.
 */
const maxFiles = 48;
/** Maximum length of a file's name in characters, without the suffix of an unfinished file. */
const maxName = 200;
/**
 * Maximum uptime, in seconds, of a process that writes a cache. V8 discards the code of functions that have not run for
 * a while.
 */
const maxUptime = 10;

/**
 * Returns V8's code cache of a command, in the cache folder; undefined if the cache is switched off, if there is no
 * home folder, or if the folder belongs to another user, as with sudo.
 * V8 hardly checks a cache and crashes on a damaged one, so `#read` checks each file.
 */
function openCodeCache(words: readonly string[], env: NodeJS.ProcessEnv): CodeCache | undefined {
  if (env.PETSTOCK_NO_CACHE) return undefined;
  try {
    const folder = cacheFolderOf(env);
    if (ownerOf(folder) !== (process.geteuid?.() ?? 0)) return undefined;
    return new CodeCache(folder, [
      commandOf(words),
      ...[version, process.version, process.arch, process.execArgv.join(' '), env.NODE_OPTIONS ?? ''],
    ]);
  } catch {
    // There is no home folder; everything works without a cache.
    return undefined;
  }
}

interface Compiled {
  readonly script: Script;
  readonly path: string;
  readonly key: string;
  readonly wasKept: boolean;
}

/**
 * Returns the words that choose the cache: the first two that may be a noun and a verb, and a request for help. One
 * cache for all commands would take longer to read.
 */
function commandOf(words: readonly string[]): string {
  const isValue = (at: number) => /^(-[eos]|--(env|output|store|color))$/.test(words[at - 1] ?? '');
  const named = words.filter((word, at) => /^[a-z]+(-[a-z]+)*$/.test(word) && !isValue(at)).slice(0, 2);
  return [...named, ...words.filter((word) => word === '--help' || word === '-h')].join(' ');
}

/** Code that V8 has compiled, in the files of one folder. */
export class CodeCache {
  readonly #folder: string;
  readonly #facts: readonly string[];
  readonly #compiled: Compiled[] = [];

  /** @param facts what the compiled code depends on, besides its source */
  constructor(folder: string, facts: readonly string[]) {
    this.#folder = folder;
    this.#facts = facts;
  }

  /** Compiles a script of the build. The scripts are ASCII, so they are read as latin1, which is faster. */
  compile(filename: string): Script {
    const file = openSync(filename, 'r');
    try {
      // A replaced script differs at least in its change time, even if an installer sets its modification time.
      const { dev, ino, size, mtimeMs, ctimeMs } = fstatSync(file);
      const key = [basename(filename), dev, ino, size, mtimeMs, ctimeMs, ...this.#facts].join('\n');
      // Files may share a name, so the key in the file decides.
      const path = join(this.#folder, key.replace(/[^\w.]+/g, '-').slice(0, maxName));
      const cachedData = this.#read(path, key);
      // The wrapper that Node puts around a module. Node's own `wrap` would load its support for source maps.
      const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'latin1')}\n})`;
      const script = new Script(source, { filename, ...(cachedData !== undefined && { cachedData }) });
      const wasKept = cachedData !== undefined && script.cachedDataRejected === false;
      this.#compiled.push({ script, path, key, wasKept });
      return script;
    } finally {
      closeSync(file);
    }
  }

  /**
   * Returns the cached code for a key; undefined if there is none, or if the file is incomplete, belongs to another
   * user, or is open to others. A file has the code twice and then the key: comparing the copies instead of computing
   * a hash saves 16 M of the 147 M instructions of `--help` (Node 20), because Node's crypto is not loaded.
   */
  #read(path: string, key: string): Buffer | undefined {
    let file: number | undefined;
    try {
      if (!isOurFolder(lstatSync(this.#folder))) return undefined;
      file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
      const stats = fstatSync(file);
      if (!stats.isFile() || !isOurs(stats)) return undefined;
      const bytes = Buffer.allocUnsafeSlow(stats.size);
      if (readSync(file, bytes) !== bytes.length) return undefined;
      const end = bytes.length - Buffer.byteLength(key);
      const code = bytes.subarray(0, end / 2);
      const isWhole = code.equals(bytes.subarray(end / 2, end)) && bytes.toString('utf8', end) === key;
      return isWhole ? code : undefined;
    } catch {
      return undefined;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  /**
   * Writes the compiled code of the scripts whose code did not come from the cache. Does nothing after `maxUptime`.
   * Takes 10 to 20 ms and never throws. The cache has only the functions that the first run needed: `config list` as a
   * table takes 8 % more CPU if the first run printed JSON.
   * @param uptime how long this process has run, in seconds
   */
  keep(uptime = process.uptime()): void {
    const due = this.#compiled.filter(({ wasKept }) => !wasKept);
    if (due.length === 0 || uptime > maxUptime) return;
    try {
      this.#makeFolder();
      for (const { script, path, key } of due) write(path, key, script.createCachedData());
    } catch {
      // The disk may be full, or another process has removed a file. The next run compiles the scripts again.
    }
  }

  /**
   * Creates the folder if it is missing. Replaces anything there that is not a folder of this user alone. If the folder
   * is full, removes the oldest files.
   */
  #makeFolder(): void {
    const folder = this.#folder;
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined || !isOurFolder(stats)) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { mode: 0o700, recursive: true });
    }
    const files = readdirSync(folder).map((name) => ({ path: join(folder, name), at: 0 }));
    if (files.length < maxFiles) return;
    for (const file of files) file.at = lstatSync(file.path).mtimeMs;
    const oldest = files.sort((a, b) => b.at - a.at).slice(maxFiles - 1);
    for (const { path } of oldest) rmSync(path, { recursive: true, force: true });
  }
}

function write(path: string, key: string, code: Buffer): void {
  const unfinished = join(dirname(path), `${basename(path)}.${process.pid}.new`);
  const file = openSync(unfinished, 'wx', 0o600);
  try {
    for (const part of [code, code, Buffer.from(key)]) {
      if (writeSync(file, part) !== part.length) throw new Error('the disk is full');
    }
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

function isOurFolder(stats: Stats): boolean {
  return stats.isDirectory() && isOurs(stats);
}

/**
 * Reports whether a file or folder belongs to this user and is closed to others. Always true on Windows: Node reports
 * neither owner nor mode there, and the system protects the folders of a user.
 */
function isOurs(stats: Stats): boolean {
  const user = process.geteuid?.();
  return user === undefined || (stats.uid === user && (stats.mode & 0o077) === 0);
}
