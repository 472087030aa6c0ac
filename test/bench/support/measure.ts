import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bare } from './children.ts';
import { temporaryFolder } from './folders.ts';

export interface Command {
  /** The program, by its path or its name, and its arguments. */
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** What one run of a command took, from its start to its end, by the operating system. */
export interface Sample {
  readonly ms: number;
  /** Of all its processes and threads. */
  readonly cpuMs: number;
  /** Of its largest process. */
  readonly peakMb: number;
}

export interface Measurer {
  /** The interpreter itself, for peers that are written in Python: the one on the path may be a script that looks for it. */
  readonly python: string;
  readonly pythonVersion: string;
  /**
   * Runs a command without stdin.
   *
   * @param stdout the path of a file that is replaced
   * @throws with what it told on stderr when it fails, or takes longer than so many seconds
   */
  run(command: Command, options: { readonly stdout: string; readonly seconds: number }): Promise<Sample>;
  stop(): void;
}

/** A small process that starts commands and measures them; see `measure.py`. @throws where there is no Python */
export async function startMeasurer(): Promise<Measurer> {
  const script = fileURLToPath(new URL('measure.py', import.meta.url));
  const child = spawn('python3', ['-S', '-E', script], { stdio: ['pipe', 'pipe', 'inherit'], env: bare() });
  // It ends what it is running, so it must not be killed outright.
  const end = () => void child.kill('SIGTERM');
  process.once('exit', end);
  const folder = temporaryFolder();
  const stderr = join(folder.path, 'stderr');
  const next = answersOf(child);
  const { python, version: pythonVersion } = (await next()) as Record<'python' | 'version', string>;
  return {
    python,
    pythonVersion,
    async run({ argv, env }, options) {
      const task = { argv, env: { ...bare(), ...env }, stderr, ...options };
      child.stdin.write(`${JSON.stringify(task)}\n`);
      const { error, code, ...sample } = (await next()) as Sample & { error?: string; code: number };
      if (error !== undefined) throw new Error(error);
      if (code !== 0) throw new Error(`it ended with ${code}: ${readFileSync(stderr, 'utf8').trim().slice(0, 300)}`);
      return sample;
    },
    stop() {
      process.off('exit', end);
      end();
      folder.remove();
    },
  };
}

/** The lines of JSON that it writes, one by one. */
function answersOf(child: ChildProcess): () => Promise<unknown> {
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) => reject(new Error(`The benchmarks need python3 (${error.message})`)));
    child.once('exit', (code, signal) => reject(new Error(`the measuring process ended with ${code ?? signal}`)));
  });
  // It may end unasked, when nobody waits for it any more.
  failed.catch(() => {});
  const lines = createInterface(child.stdout ?? process.stdin)[Symbol.asyncIterator]();
  return async () => {
    const { value } = await Promise.race([lines.next(), failed]);
    return JSON.parse(value ?? '{"error":"the measuring process told nothing"}');
  };
}
