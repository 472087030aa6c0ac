import type { Paint } from '../../output/paint.ts';
import type { View } from '../../output/view.ts';
import type { EnvironmentName, Sourced, StoredConfig } from '../../settings/settings.ts';
import type { Context } from '../context.ts';
import type { Progress } from '../progress/progress.ts';
import type { Connection } from './connect.ts';

/** The global options as Commander parsed them; not yet validated against settings. */
export interface GlobalOptions {
  readonly env?: string;
  readonly output?: string;
  readonly header?: boolean;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly quiet?: boolean;
  readonly debug?: boolean;
  readonly color?: string;
  readonly timeout?: string;
  readonly maxWait?: string;
}

/** What one run of one command is given. */
export interface Invocation {
  readonly context: Context;
  readonly globals: GlobalOptions;
  readonly environment: Sourced<EnvironmentName>;
  /** The configuration file as it was when the command began. */
  readonly config: StoredConfig;
  /** True where a program reads the result: `json` and `ndjson`. */
  readonly wantsJson: boolean;
  /**
   * Writes a result to stdout in the chosen format.
   * @param options.inSpiteOfInterruption it is the report of what was done until then
   */
  print(view: View, options?: { readonly inSpiteOfInterruption: boolean }): Promise<void>;
  /** Writes plain text or bytes to stdout, for a result that has no format of its own. */
  write(text: string | Uint8Array): Promise<void>;
  /** A line for the person on stderr; silent with `--quiet`. */
  note(line: string): Promise<void>;
  /** Lines on stderr that are painted; what they repeat must be harmless already. Silent with `--quiet`. */
  show(lines: (paint: Paint, width: number) => readonly string[]): Promise<void>;
  /** A line on stderr that starts with `Warning:`; silent with `--quiet`. */
  warn(line: string): Promise<void>;
  /**
   * With JSON notes and warnings are held back until the command has succeeded, so that an error stands alone. This
   * shows them, and holds nothing back from here on.
   */
  release(): Promise<void>;
  /**
   * The connection to the chosen environment, made once. Nothing is sent yet.
   * @throws UsageError without a base URL, AuthError without a key
   */
  connect(use?: ConnectionUse): Promise<Connection>;
  /**
   * To be called before a write: says on stderr where it goes, and asks where the setting `confirm` wants that.
   * @param question ends in a question mark
   * @throws UsageError where the answer is no, or where nobody can be asked and `--yes` is missing
   */
  beginWrite(question: string): Promise<Connection>;
  /** Says on stderr where a write goes. */
  announce(): Promise<Connection>;
  /**
   * Asks before a bulk write; `--yes` is an answer.
   * @throws UsageError where the answer is no, or where nobody can be asked and `--yes` is missing
   */
  confirmBulk(question: BulkQuestion): Promise<void>;
  /**
   * Shows on stderr how far a bulk write has come, until it is stopped. With `--quiet` it shows nothing.
   * @param limitSeconds how long the limits make so many requests take
   */
  startProgress(total: number, limitSeconds: (requests: number) => number): Promise<Progress>;
}

export interface ConnectionUse {
  /** It leaves a small part of the limit to people, and waits for as many minute windows as it takes. */
  readonly bulk?: boolean;
}

export interface BulkQuestion {
  /** `Write 3 changes to staging?` */
  readonly question: string;
  /** What has to be typed rather than a yes. */
  readonly typed?: string | undefined;
  /** stdin holds the file, so that nobody can answer there. */
  readonly stdinIsTaken?: boolean;
  /** A command that shows what would be done, for who has to say yes unseen. */
  readonly look?: string | undefined;
}

export type Action<Options extends object> = (
  invocation: Invocation,
  options: Options,
  ...operands: string[]
) => Promise<void>;

/** Turns an action into what Commander's `.action()` takes: `.action(run(async (invocation, options, petId) => …))`. */
export type Run = <Options extends object>(action: Action<Options>) => (...args: unknown[]) => Promise<void>;
