import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bare, start, temporaryFolder } from './children.ts';
import { type Contestant, WrongResult } from './rounds.ts';

export interface Command {
  /** The path or the name of the program, and its arguments. */
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The operating system's figures for one run of a command. */
export interface Sample {
  readonly ms: number;
  /** CPU time of all its processes and threads. */
  readonly cpuMs: number;
  /** Peak memory of its largest process. */
  readonly peakMb: number;
}

/** Maximum duration of a command, in seconds. */
const maxTime = 180;

/**
 * Runs a command without stdin.
 * @param stdout the path of a file that is replaced; default: /dev/null
 * @throws Error if the command fails, with its stderr, or if it takes longer than `maxTime`
 */
export type Measure = (command: Command, stdout?: string) => Promise<Sample>;

/**
 * Starts a small process that runs commands and measures them; see `measure.py`. Without Python, the returned function
 * throws.
 */
export async function startMeasurer(): Promise<Measure> {
  const child = start('python3', ['-S', '-E', fileURLToPath(new URL('measure.py', import.meta.url))]);
  const stderr = join(temporaryFolder(), 'stderr');
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) => reject(new Error(`The benchmarks need python3 (${error.message})`)));
    child.once('exit', (code, signal) => reject(new Error(`the measuring process ended with ${code ?? signal}`)));
  });
  // The process may end while no command is measured.
  failed.catch(() => {});
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return async ({ argv, env }, stdout = '/dev/null') => {
    const task = { argv, env: { ...bare(), ...env }, stdout, stderr, seconds: maxTime };
    child.stdin.write(`${JSON.stringify(task)}\n`);
    const { value = '' } = await Promise.race([lines.next(), failed]);
    const { error, code, ...sample } = JSON.parse(value) as Sample & { error?: string; code: number };
    if (error !== undefined) throw new Error(error);
    if (code !== 0) throw new Error(`it ended with ${code}: ${readFileSync(stderr, 'utf8').trim().slice(0, 300)}`);
    return sample;
  };
}

/**
 * Returns a contestant whose output is checked in the warm-up, and discarded when it is measured.
 * @param check throws WrongResult if the output is wrong
 */
export function checked(
  measure: Measure,
  name: string,
  command: Command,
  check: (file: string) => unknown,
): Contestant {
  const output = join(temporaryFolder(), 'output');
  const attempt = async (isWarmUp: boolean) => {
    const sample = await measure(command, isWarmUp ? output : undefined);
    if (isWarmUp) await check(output);
    return sample;
  };
  return { name, attempt };
}

/**
 * @param rowOf returns the row of a line, or undefined if the line does not count
 * @throws WrongResult if the rows of a file are not the expected ones
 */
export async function requireRows(
  file: string,
  expected: Iterable<string>,
  rowOf: (line: string) => string | undefined = (line) => line,
): Promise<void> {
  const rows = expected[Symbol.iterator]();
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    const row = rowOf(line);
    if (row === undefined) continue;
    const wanted = rows.next().value;
    if (row !== wanted) throw new WrongResult(`${row} stands for ${wanted}`);
  }
  if (!rows.next().done) throw new WrongResult('rows are missing');
}
