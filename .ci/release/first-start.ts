import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostName, type Target } from './runtime.ts';

/** What runs the executables of other systems, from Debian's packages. */
const runners: Readonly<Record<string, readonly string[]>> = {
  // qemu-user-static, with the libraries of libc6-arm64-cross and libstdc++6-arm64-cross.
  'linux-arm64': ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu'],
  'windows-x64': ['wine'],
};

/**
 * Starts an executable before it leaves: it tells its version, and writes to the sandbox.
 * @returns how that went, for the log of the build
 * @throws Error if it does not do what it should
 */
export function firstStart({ name }: Target, file: string): string {
  const runner = name === hostName() ? [] : runners[name];
  if (runner === undefined || !isThere(runner[0])) {
    return `not started: ${runner === undefined ? 'nothing here runs it' : `${runner[0]} is not installed`}`;
  }
  const state = mkdtempSync(join(tmpdir(), 'petstock-start-'));
  const env = { ...process.env, PETSTOCK_STATE_DIR: state, PETSTOCK_CONFIG_DIR: state, BUN_OPTIONS: '' };
  const run = (...args: readonly string[]): string => {
    const [program = '', ...words] = [...runner, file, ...args];
    return execFileSync(program, words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 });
  };
  try {
    const version = run('--version').trim();
    const { petId, quantity } = JSON.parse(run('--env', 'sandbox', '--json', 'inventory', 'set', '4', '12'));
    if (!/^\d+\.\d+\.\d+/.test(version) || petId !== 4 || quantity !== 12)
      throw new Error(`${file} wrote something else`);
    return `started${runner[0] === undefined ? '' : ` by ${runner[0]}`}: ${version}, wrote to its sandbox`;
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}

function isThere(program: string | undefined): boolean {
  if (program === undefined) return true;
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
