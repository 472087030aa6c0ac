import type { Transport, TransportOptions } from '../api/transport.ts';
import type { Folders } from '../settings/folders.ts';
import type { Clock } from '../shared/clock.ts';
import type { EndingSignal } from '../shared/errors.ts';
import type { Processes } from '../shared/processes.ts';

/** Everything that the program may touch, created once in `bin` and passed down. Tests create their own. */
export interface Context {
  /** Arguments after `node` and the script. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether stdout and stderr go to the same place, as with `2>&1`; absent: no. */
  sharesOutput?(): boolean;
  readonly clock: Clock;
  readonly folders: Folders;
  readonly processes: Processes;
  readonly prompts: Prompts;
  /**
   * Aborted by Ctrl-C, Ctrl-Break and SIGTERM, and by SIGHUP (the terminal was closed) unless `onHangup` was called.
   */
  readonly interrupted: AbortSignal;
  /** If a second Ctrl-C or SIGTERM ends the process at once, writes the line that `lastWords` returns to stderr. */
  onSecondInterrupt?(lastWords: (signal: EndingSignal) => string): void;
  /** Calls `listener` with each SIGHUP, which otherwise interrupts the command. */
  onHangup(listener: () => void): void;
  /** Returns a function that sends one request without rate limiting. Only the HTTP layer calls it. */
  openTransport(options: TransportOptions): Transport;
  /** Starts a program that shows its input on the terminal. Whether it could be started is reported by `ended`. */
  openPager(command: PagerCommand): Promise<Pager>;
  /** Reduces the growth of memory, at some CPU, until it is called with false; absent: the engine can't. */
  saveMemory?(isSaved: boolean): void;
  /** A number in [0, 1), for jitter. */
  random(): number;
  /**
   * Returns the licences of petstock and everything that it bundles.
   * @throws FailureError if it runs from its sources
   */
  licences(): Promise<string>;
}

export interface Input {
  readonly isTerminal: boolean;
  /** The bytes as they arrive. Nothing is read before the iterator is first called. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The keys of a terminal as they are pressed, without echo; absent: the terminal can't do that. */
  keys?(): AsyncIterable<Uint8Array>;
  /** The descriptor of an open file, like with `< counts.csv`; absent if the input is not a file. */
  readonly descriptor?: number | undefined;
}

export interface Output {
  readonly isTerminal: boolean;
  /** Current width in characters; undefined if there is no terminal. */
  readonly columns: number | undefined;
  /** Current height in lines; absent if it is not known. */
  readonly rows?: number | undefined;
  /**
   * Resolves once the stream accepts more.
   * @throws ClosedPipeError if the reader has exited
   */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Removes keys from text before it is truncated or wrapped; written text never contains any. Absent if there are none. */
  redact?(text: string): string;
}

/** Questions on the terminal. Only used if stdin and stderr are terminals. */
export interface Prompts {
  /**
   * Asks without showing what is typed.
   * @throws InterruptedError on Ctrl-C
   */
  password(question: string): Promise<string>;
  confirm(question: string): Promise<boolean>;
  text(question: string): Promise<string>;
}

export interface PagerCommand {
  /** A shell command: `less -R`. */
  readonly command: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A program that uses the terminal until the user quits it. Ctrl-C does not end petstock meanwhile, but aborts its signal. */
export interface Pager {
  /** Resolves once it accepts more. @throws ClosedPipeError if its input is closed */
  write(text: string): Promise<void>;
  end(): void;
  /** Resolves when it has ended. `missing`: it could not be run, and has shown nothing. */
  readonly ended: Promise<'left' | 'missing'>;
}
