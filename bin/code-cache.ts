import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { ownerOf } from '../src/settings/folders.ts';
import { effectiveUser, makePrivateFolder } from '../src/shared/private-files.ts';
import { version } from '../src/shared/version.ts';
import { cacheFolderOf } from './process-folders.ts';

/** If the folder has this many files, of other commands and older versions, all are removed before one is written. */
const maxFiles = 96;
/** Maximum length of a file's name in characters, without the suffix of an unfinished file. */
const maxName = 200;
/**
 * Maximum uptime, in seconds, of a process that writes a cache. V8 discards the code of functions that have not run for
 * a while.
 */
const maxUptime = 10;

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
  const folder = cacheFolder(process.env);
  if (folder === undefined) return requireElse(name);
  const node = [process.version, process.arch, process.execArgv.join(' '), process.env.NODE_OPTIONS ?? ''];
  const cache = codeCacheIn(folder, [commandOf(words), version, ...node]);
  process.once('exit', (code) => code === 0 && process.uptime() < maxUptime && cache.keep());
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

/** Returns the folder of the caches; undefined without a home folder, and in that of another user, as with sudo. */
function cacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  if (env.PETSTOCK_NO_CACHE) return undefined;
  try {
    const folder = cacheFolderOf(env);
    return ownerOf(folder) === (effectiveUser() ?? 0) ? folder : undefined;
  } catch {
    return undefined;
  }
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

/**
 * Opens the cache in a folder. V8 hardly checks code and crashes on damaged code. So the folder has to be one that only
 * this user can open, and a file counts only if it has the code twice and then its key. Comparing the copies saves a
 * tenth of the CPU of `--help` beside a hash, for which Node would load its crypto.
 * @param facts what the compiled code depends on, besides its source
 */
export function codeCacheIn(folder: string, facts: readonly string[]) {
  const added: { readonly script: Script; readonly path: string; readonly key: string }[] = [];
  return {
    /** Compiles a script of the build. The scripts are ASCII, so they are read as latin1, which is faster. */
    compile: (filename: string): Script => {
      const file = openSync(filename, 'r');
      try {
        // A replaced script differs at least in its change time, even if an installer sets its modification time.
        const { dev, ino, size, mtimeMs, ctimeMs } = fstatSync(file);
        const key = [basename(filename), dev, ino, size, mtimeMs, ctimeMs, ...facts].join('\n');
        // Files may share a name, so the key in the file decides.
        const path = join(folder, key.replace(/[^\w.]+/g, '-').slice(0, maxName));
        const cachedData = read(path, key);
        // The wrapper that Node puts around a module. Node's own `wrap` would load its support for source maps.
        const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'latin1')}\n})`;
        const script = new Script(source, { filename, ...(cachedData !== undefined && { cachedData }) });
        if (script.cachedDataRejected !== false) added.push({ script, path, key });
        return script;
      } finally {
        closeSync(file);
      }
    },
    /**
     * Writes the code of the scripts that did not come from the cache, in 10 to 20 ms, and never throws. It has only the
     * functions that this run needed: `config list` as a table takes 8 % more CPU if the first run printed JSON.
     */
    keep: (): void => {
      if (added.length === 0) return;
      try {
        makePrivateFolder(folder);
        if (!isPrivate(folder)) return;
        const files = readdirSync(folder);
        if (files.length >= maxFiles) for (const name of files) rmSync(join(folder, name), { force: true });
        for (const { script, path, key } of added) write(path, key, script.createCachedData());
      } catch {
        // The disk may be full, or another process has removed a file. The next run compiles the scripts again.
      }
    },
  };
}

/** Returns the code in a file; undefined if there is none, others can open the folder, or the file has another key. */
function read(path: string, key: string): Buffer | undefined {
  try {
    if (!isPrivate(dirname(path))) return undefined;
    const bytes = readFileSync(path);
    const end = bytes.length - Buffer.byteLength(key);
    const code = bytes.subarray(0, end / 2);
    const isWhole = code.equals(bytes.subarray(end / 2, end)) && bytes.toString('utf8', end) === key;
    return isWhole ? code : undefined;
  } catch {
    return undefined;
  }
}

function write(path: string, key: string, code: Buffer): void {
  const unfinished = `${path}.${process.pid}.new`;
  try {
    writeFileSync(unfinished, Buffer.concat([code, code, Buffer.from(key)]), { flag: 'wx', mode: 0o600 });
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/**
 * Reports whether only this user can open a folder. On Windows, where Node reports neither owner nor mode, the system
 * protects the folders of a user.
 */
function isPrivate(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  const user = effectiveUser();
  return stats?.isDirectory() === true && (user === undefined || (stats.uid === user && (stats.mode & 0o077) === 0));
}
