import type { Transport } from './transport.ts';

/** What the program may touch, made once in `bin` and passed down. Tests make their own. */
export interface Context {
  /** Arguments after `node` and the script. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  /** Sends one request, ungoverned. Only the HTTP layer calls it. */
  readonly transport: Transport;
  readonly folders: Folders;
  readonly processes: Processes;
  readonly prompts: Prompts;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly interrupted: AbortSignal;
  /** A number in [0, 1), for jitter. */
  random(): number;
}

export interface Input {
  readonly isTerminal: boolean;
  /** The bytes as they come. Nothing is read before the first call of its iterator. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface Output {
  readonly isTerminal: boolean;
  /** Width in characters as of now; undefined where there is no terminal. */
  readonly columns: number | undefined;
  /**
   * Resolves once the stream takes more.
   * @throws ClosedPipeError when the reader has gone away
   */
  write(chunk: string | Uint8Array): Promise<void>;
}

export interface Clock {
  /** Wall clock: milliseconds since the Unix epoch. Somebody may step it. */
  now(): number;
  /** Milliseconds since `boot`, never stepped, the same for all processes of this machine. */
  monotonic(): number;
  /** Names the start that `monotonic` counts from: another one after a restart of the machine. */
  boot(): string;
  /**
   * Resolves after `ms` milliseconds and keeps the process alive until then.
   * @throws the signal's reason once it is aborted
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `onPassed` after `ms` milliseconds unless it is cleared before. Not a signal: every request has one, and signals are dear. */
  deadline(ms: number, onPassed: () => void): Deadline;
}

export interface Deadline {
  clear(): void;
}

export interface Processes {
  /** The number of this process. */
  readonly pid: number;
  isAlive(pid: number): boolean;
}

/** Absolute paths. Neither need exist. */
export interface Folders {
  readonly config: string;
  readonly state: string;
}

/** Questions on the terminal. Only asked where stdin and stderr are terminals. */
export interface Prompts {
  /**
   * Asks without showing what is typed.
   * @throws InterruptedError on Ctrl-C
   */
  password(question: string): Promise<string>;
  /** A yes/no question; no is the default. */
  confirm(question: string): Promise<boolean>;
  /** A line of text. */
  text(question: string): Promise<string>;
}
