import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostName, type Target } from './runtime.ts';

const standIns = fileURLToPath(new URL('stand-ins', import.meta.url));

/** What runs the executables of another system here, from Debian's packages. */
interface Runner {
  /** Programs and files that it takes. */
  readonly needs: readonly string[];
  readonly words?: readonly string[];
  /** Compiled beside the executable: the compiler with its flags, the file in `stand-ins`, the library and those that it takes. */
  readonly library?: readonly string[];
  /** @param folder that the executable and the library are in */
  env?(folder: string): Readonly<Record<string, string>>;
}

const [qemu, mingw, musl] = ['qemu-aarch64-static', 'x86_64-w64-mingw32-gcc', '/lib/ld-musl-x86_64.so.1'];
const runners: Readonly<Record<string, Runner>> = {
  // qemu-user-static, libc6-arm64-cross, libstdc++6-arm64-cross
  'linux-arm64': { needs: [qemu], words: [qemu, '-L', '/usr/aarch64-linux-gnu'] },
  // musl, gcc
  'linux-x64-musl': {
    needs: [musl, 'cc'],
    // That is what libstdc++ itself asks for; it takes glibc's own files for those of musl.
    library: ['cc', '-shared', '-fPIC', '-nostdlib', 'musl.c', '-o', 'ld-linux-x86-64.so.2'],
    env: (folder) => ({ LD_LIBRARY_PATH: `${folder}:/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu` }),
  },
  // Rosetta, where it is: macOS then runs it by itself.
  'darwin-x64': { needs: ['/Library/Apple/usr/libexec/oah/libRosettaRuntime'] },
  // wine, gcc-mingw-w64-x86-64
  'windows-x64': {
    needs: ['wine', mingw],
    words: ['wine'],
    library: [mingw, '-shared', 'wine.c', '-o', 'bcryptprimitives.dll', '-ladvapi32'],
    env: (folder) => ({ WINEPREFIX: join(folder, 'wine'), WINEDEBUG: '-all', DISPLAY: '' }),
  },
};

/**
 * Starts an executable before it leaves: it tells its version, and writes to the sandbox.
 * @returns how that went, for the log of the build
 * @throws Error if it does not do what it should
 */
export function firstStart({ name }: Target, file: string): string {
  const runner = name === hostName() ? { needs: [] } : runners[name];
  if (runner === undefined) return 'not started: nothing here runs it';
  const missing = runner.needs.filter((need) => !isThere(need));
  if (missing.length > 0) return `not started: no ${missing.join(', no ')} here`;
  const folder = mkdtempSync(join(tmpdir(), 'petstock-start-'));
  try {
    return `started${runner.needs[0] === undefined ? '' : ` by ${runner.needs[0]}`}: ${writeOnce(runner, file, folder)}`;
  } finally {
    // Wine's server may still be writing there.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function writeOnce({ words = [], library, env }: Runner, file: string, folder: string): string {
  const executable = join(folder, basename(file));
  copyFileSync(file, executable);
  const run = ([program = '', ...args]: readonly string[]) =>
    execFileSync(program, args, {
      cwd: folder,
      env: {
        ...process.env,
        ...env?.(folder),
        PETSTOCK_STATE_DIR: folder,
        PETSTOCK_CONFIG_DIR: folder,
        BUN_OPTIONS: '',
      },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 120_000,
    });
  if (library !== undefined) run(library.map((word) => (word.endsWith('.c') ? join(standIns, word) : word)));
  const version = run([...words, executable, '--version']).trim();
  const set = run([...words, executable, ...'--env sandbox --json inventory set 4 12'.split(' ')]);
  const { petId, quantity } = JSON.parse(set);
  if (!/^\d+\.\d+\.\d+/.test(version) || petId !== 4 || quantity !== 12)
    throw new Error(`${file} wrote something else`);
  return `${version}, wrote to its sandbox`;
}

/** @param need a path, or a program in the PATH */
function isThere(need: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(resolve(folder, need)));
}
