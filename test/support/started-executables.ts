import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import process from 'node:process';
import { newFolder, root } from '../../.ci/commands.ts';
import { executableName, hostName, targets } from '../../.ci/release/runtime.ts';

/**
 * A way to run the executables of another system on this machine, with the Debian packages in `.ci/release/packages`.
 */
interface Runner {
  /** The programs and files that it needs: paths, or names of programs in the PATH. */
  readonly needs: readonly string[];
  /** The words before the executable on the command line. */
  readonly words?: readonly string[];
  /** A command line that compiles a library into the folder of the executable. */
  readonly compile?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const standIns = join(root, 'test/support/stand-ins');
const [qemu, mingw, musl] = ['qemu-aarch64-static', 'x86_64-w64-mingw32-gcc', '/lib/ld-musl-x86_64.so.1'];
const runners: Readonly<Record<string, Runner>> = {
  'linux-arm64': { needs: [qemu], words: [qemu, '-L', '/usr/aarch64-linux-gnu'] },
  'linux-x64-musl': {
    needs: [musl, 'cc'],
    // glibc's libstdc++ requires a library of this name. This one has the functions that musl lacks.
    compile: `cc -shared -fPIC -nostdlib ${standIns}/musl.c -o ld-linux-x86-64.so.2`,
    env: { LD_LIBRARY_PATH: '.:/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu' },
  },
  // Rosetta, with which macOS runs x64 executables by itself.
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
 * `npm run check:binaries`: starts each executable in `dist/binaries` that this machine can run. Each prints its
 * version and writes to its sandbox. Throws if an executable fails, or if there is none.
 */
const files = targets.map((target) => ({ target, file: join(root, 'dist/binaries', executableName(target)) }));
const made = files.filter(({ file }) => existsSync(file));
if (made.length === 0) throw new Error('no executable in dist/binaries: npm run build:binaries');
for (const { target, file } of made) process.stdout.write(`binaries: petstock-${target}, ${started(target, file)}\n`);

function started(target: string, file: string): string {
  const { needs = ['such system'], words = [], compile, env } = runners[target] ?? {};
  const paths = (process.env.PATH ?? '').split(delimiter);
  const missing = needs.filter((need) => !paths.some((folder) => existsSync(resolve(folder, need))));
  if (missing.length > 0) return `not started: no ${missing.join(', no ')} here`;
  const cwd = newFolder();
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
  return `started${needs[0] === undefined ? '' : ` by ${needs[0]}`}: ${version}, wrote to its sandbox`;
}
