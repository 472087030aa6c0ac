import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join, resolve } from 'node:path';
import { newFolder, root } from '../commands.ts';
import { hostName } from './runtime.ts';

/** What runs the executables of another system here, from the packages of Debian that `packages` names. */
interface Runner {
  /** Programs and files that it takes: paths, or programs in the PATH. */
  readonly needs: readonly string[];
  /** Goes before the executable on the command line. */
  readonly words?: readonly string[];
  /** Compiles a library beside the executable: a command line for that folder. */
  readonly compile?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const standIns = join(root, '.ci/release/stand-ins');
const [qemu, mingw, musl] = ['qemu-aarch64-static', 'x86_64-w64-mingw32-gcc', '/lib/ld-musl-x86_64.so.1'];
const runners: Readonly<Record<string, Runner>> = {
  'linux-arm64': { needs: [qemu], words: [qemu, '-L', '/usr/aarch64-linux-gnu'] },
  'linux-x64-musl': {
    needs: [musl, 'cc'],
    // libstdc++ itself asks for a library of that name; it takes glibc's own files for those of musl.
    compile: `cc -shared -fPIC -nostdlib ${standIns}/musl.c -o ld-linux-x86-64.so.2`,
    env: { LD_LIBRARY_PATH: '.:/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu' },
  },
  // Rosetta, where it is: macOS then runs it by itself.
  'darwin-x64': { needs: ['/Library/Apple/usr/libexec/oah/libRosettaRuntime'] },
  'windows-x64': {
    needs: ['wine', mingw],
    words: ['wine'],
    compile: `${mingw} -shared ${standIns}/wine.c -o bcryptprimitives.dll -ladvapi32`,
    env: { WINEDEBUG: '-all', DISPLAY: '' },
  },
  [hostName()]: { needs: [] },
};

/**
 * Starts an executable before it leaves: it tells its version, and writes to the sandbox.
 * @returns how that went, for the log of the build
 * @throws Error if it does not do what it should
 */
export function firstStart(target: string, file: string): string {
  const { needs = ['such system'], words = [], compile, env } = runners[target] ?? {};
  const paths = (process.env.PATH ?? '').split(delimiter);
  const missing = needs.filter((need) => !paths.some((folder) => existsSync(resolve(folder, need))));
  if (missing.length > 0) return `not started: no ${missing.join(', no ')} here`;
  const cwd = newFolder(tmpdir());
  const executable = join(cwd, basename(file));
  copyFileSync(file, executable);
  const own = { PETSTOCK_STATE_DIR: cwd, PETSTOCK_CONFIG_DIR: cwd, WINEPREFIX: join(cwd, 'wine'), BUN_OPTIONS: '' };
  const options = { cwd, env: { ...process.env, ...env, ...own }, timeout: 120_000 } as const;
  const run = (...[program = '', ...args]: readonly string[]) =>
    execFileSync(program, args, { ...options, encoding: 'utf8', stdio: 'pipe' });
  if (compile !== undefined) run('sh', '-c', compile);
  const version = run(...words, executable, '--version').trim();
  const written = run(...words, executable, ...'--env sandbox --json inventory set 4 12'.split(' '));
  const { petId, quantity } = JSON.parse(written);
  if (!/^\d+\.\d+\.\d+/.test(version) || petId !== 4 || quantity !== 12)
    throw new Error(`${file} wrote something else`);
  rmSync(executable);
  return `started${needs[0] === undefined ? '' : ` by ${needs[0]}`}: ${version}, wrote to its sandbox`;
}
