import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Home,
  type Program,
  type ProgramOptions,
  type ProgramResult,
  runProgram,
  startProgram,
  temporaryHome,
} from './program.ts';
import type { PrintedReport } from './shop.ts';

export type Petstock = ReturnType<typeof petstockAt>;

export interface ListedRun {
  readonly run: string;
  readonly command: string;
  readonly user: string | null;
  readonly host: string;
  readonly state: string;
  readonly undoes: string | null;
  readonly file: string | null;
  readonly counts: Readonly<Record<string, number>>;
}

export interface ShownRow {
  readonly petId: number;
  readonly before: number | null;
  readonly after: number;
  readonly result: string;
  readonly quantity: number | null;
}

type Command = string | readonly string[];

/**
 * Returns the program for one service, with one state folder.
 * @param env the URL and key of the service
 */
export function petstockAt({ env }: Pick<ProgramOptions, 'env'>, home: Home = temporaryHome()) {
  const withDefaults = (options: ProgramOptions = {}) => ({ home, ...options, env: { ...env, ...options.env } });
  const run = (command: Command, options?: ProgramOptions) => runProgram(command, withDefaults(options));
  const json = async (command: string): Promise<unknown> => {
    const { code, stdout, stderr } = await run(command);
    if (code !== 0) throw new Error(`petstock ${command}: exit ${code}, ${stderr}`);
    return JSON.parse(stdout);
  };
  const history = async () => (await json('history list --json')) as readonly ListedRun[];
  return {
    home,
    run,
    start: (command: Command, options?: ProgramOptions): Program => startProgram(command, withDefaults(options)),
    file: (name: string, lines: readonly string[]) => {
      const path = join(home.folder, name);
      writeFileSync(path, `${lines.join('\n')}\n`);
      return path;
    },
    /** Returns the runs of `history list --json`, the newest first. */
    history,
    /**
     * Returns the newest run.
     * @throws Error if there is none
     */
    newest: async () => {
      const newest = (await history())[0];
      if (newest === undefined) throw new Error('there is no run in the history');
      return newest;
    },
    /** Returns the rows of `history show <run> --json`. */
    rows: async (runId: string) => ((await json(`history show ${runId} --json`)) as { rows: readonly ShownRow[] }).rows,
  };
}

/** Returns the report that a bulk command has printed with `--json`. */
export function reportOf({ stdout }: ProgramResult): PrintedReport {
  return JSON.parse(stdout);
}

/** Returns the last four characters of a run's id, which every command accepts. */
export function nameOf({ run }: { readonly run: string }): string {
  return run.slice(-4);
}

/**
 * Resolves like `promise`.
 * @throws Error if that takes longer than `ms` milliseconds
 */
export function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
