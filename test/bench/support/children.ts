import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';

const running = new Set<ChildProcess>();
const folders = new Set<string>();

/**
 * Ends the processes that a benchmark has started, and removes its folders. `run.ts` calls it after each benchmark, and
 * the process when it exits.
 */
export function cleanUp(): void {
  // SIGTERM, not SIGKILL, since the measuring process then ends the command that it runs.
  for (const child of running) child.kill('SIGTERM');
  for (const path of folders) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  folders.clear();
}
process.on('exit', cleanUp);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

/**
 * Returns the path of a new folder, which `cleanUp` removes.
 * @param parent an existing folder
 */
export function temporaryFolder(parent = tmpdir()): string {
  const path = mkdtempSync(join(parent, 'petstock-bench-'));
  folders.add(path);
  return path;
}

/** Starts a program with pipes for stdin, stdout and stderr. */
export function start(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(program, args, { stdio: 'pipe', env: { ...bare(), ...env } });
  kept(child);
  return child;
}

/**
 * Returns the first line that a program prints.
 * @throws Error if the program ends without printing a line, with its stderr, or if it takes longer than `seconds`
 */
export async function firstLine(child: ChildProcess, seconds: number): Promise<string> {
  const signal = AbortSignal.timeout(seconds * 1000);
  const complaints: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
  const lines = createInterface(child.stdout ?? Readable.from([]));
  const [line] = await Promise.race([once(lines, 'line', { signal }), once(child, 'close', { signal })]);
  if (typeof line !== 'string') throw new Error(`${child.spawnfile} ended: ${complaints.join('').trim()}`);
  return line;
}

export async function stop(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function kept(child: ChildProcess): ChildProcess {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/**
 * Returns the environment without variables of npm, petstock and proxies, and without two of Node. With
 * NODE_EXTRA_CA_CERTS, Node would read certificates at each start, which takes longer than everything that is compared.
 */
export function bare(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_|PETSTOCK_|NODE_OPTIONS$|NODE_EXTRA_CA_CERTS$|.*_proxy$)/i.test(name),
    ),
  );
}
