import type { Transport, TransportOptions } from '../api/transport.ts';
import type { Folders } from '../settings/folders.ts';
import type { Clock } from '../shared/clock.ts';
import type { EndingSignal } from '../shared/errors.ts';
import type { Processes } from '../shared/processes.ts';

/** Everything that the program may touch, made once in `bin` and passed down. Tests make their own. */
export interface Context {
  /** Arguments after `node` and the script. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether stdout and stderr go to one place, as with `2>&1`; absent: no. */
  sharesOutput?(): boolean;
  readonly clock: Clock;
  readonly folders: Folders;
  readonly processes: Processes;
  readonly prompts: Prompts;
  /** Aborted by Ctrl-C, Ctrl-Break and SIGTERM, and by SIGHUP unless `onHangup` was called: the terminal was closed. */
  readonly interrupted: AbortSignal;
  /** A second Ctrl-C or SIGTERM, which ends the process at once, writes the line that `lastWords` returns to stderr. */
  onSecondInterrupt?(lastWords: (signal: EndingSignal) => string): void;
  /** Calls `listener` with each SIGHUP, which interrupts a command that does not ask for it. */
  onHangup(listener: () => void): void;
  /** Returns a function that sends one request, ungoverned. Only the HTTP layer calls it. */
  openTransport(options: TransportOptions): Transport;
  /** Starts a program that shows on the terminal what it is given. Whether it could be started is seen by how it ends. */
  openPager(command: PagerCommand): Promise<Pager>;
  /** Lets memory grow less beyond what is in use, at some CPU, until it is called with false; absent: the engine can't. */
  saveMemory?(isSaved: boolean): void;
  /** A number in [0, 1), for jitter. */
  random(): number;
  /** Returns the licences of petstock and of all that goes with it. @throws FailureError if it runs from its sources */
  licences(): Promise<string>;
}

export interface Input {
  readonly isTerminal: boolean;
  /** The bytes as they come. Nothing is read before the first call of its iterator. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The keys of a terminal as they are pressed: it echoes nothing while they are read. Absent: the terminal can't do that. */
  keys?(): AsyncIterable<Uint8Array>;
  /** The number by which it is open: of a file, as with `< counts.csv`, it says which. Absent: it is no file. */
  readonly descriptor?: number | undefined;
}

export interface Output {
  readonly isTerminal: boolean;
  /** Width in characters as of now; undefined if there is no terminal. */
  readonly columns: number | undefined;
  /** Height in lines as of now; absent if it is not known. */
  readonly rows?: number | undefined;
  /** Resolves once the stream takes more. @throws ClosedPipeError when the reader has gone away */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Takes keys out of text that is cut or wrapped before it is written: what is written has none anyway. Absent: there are none. */
  redact?(text: string): string;
}

/** Questions on the terminal. Only asked if stdin and stderr are terminals. */
export interface Prompts {
  /** Asks without showing what is typed. @throws InterruptedError on Ctrl-C */
  password(question: string): Promise<string>;
  confirm(question: string): Promise<boolean>;
  text(question: string): Promise<string>;
}

export interface PagerCommand {
  /** As a shell takes it: `less -R`. */
  readonly command: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A program that has the terminal until the person leaves it. Ctrl-C does not end petstock meanwhile, but aborts its signal. */
export interface Pager {
  /** Resolves once it takes more. @throws ClosedPipeError when it takes no more */
  write(text: string): Promise<void>;
  end(): void;
  /** Resolves when it has ended. `missing`: it could not be run, and has shown nothing. */
  readonly ended: Promise<'left' | 'missing'>;
}
