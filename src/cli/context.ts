import type { Transport, TransportOptions } from '../api/transport.ts';
import type { Folders } from '../settings/folders.ts';
import type { Clock } from '../shared/clock.ts';
import type { openState } from '../state/open-state.ts';
import type { Suspension } from '../writes/write-context.ts';

/** Everything that the program may touch, created once in `bin` and passed down. Tests create their own. */
export interface Context {
  /** Arguments after `node` and the script. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  readonly folders: Folders;
  /** The machine and the process, for the history. */
  readonly self: { readonly host: string; readonly pid: number };
  /** What is to be done before Ctrl-Z stops the process. */
  readonly suspension: Suspension;
  /** Opens the state; by default `openState`. */
  readonly openState?: typeof openState;
  readonly prompts: Prompts;
  /**
   * Aborted by Ctrl-C, Ctrl-Break and SIGTERM, and by SIGHUP (the terminal was closed) unless `onHangup` was called.
   */
  readonly interrupted: AbortSignal;
  /** Calls `listener` on each SIGHUP, which then no longer interrupts the command. */
  onHangup(listener: () => void): void;
  /** Creates a function that sends a request without rate limiting. Only the HTTP layer calls that function. */
  openTransport(options: TransportOptions): Transport;
  /**
   * Starts a program that shows its input on the terminal. `Pager.ended` reports whether the program could be started, and whether it failed.
   */
  openPager(command: PagerCommand): Promise<Pager>;
  /**
   * Calls `onGone` once the reader of stdout has exited, as far as that can be known without a write. Returns a function
   * that ends the watching.
   */
  watchReader(onGone: () => void): Promise<() => void>;
  /** Returns a number in [0, 1), for jitter. */
  random(): number;
}

export interface Input {
  readonly isTerminal: boolean;
  /** The bytes as they arrive. Nothing is read before the iterator is first called. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Yields the keys of a terminal as they are pressed, without echo. Absent if the input can't do that. */
  keys?(): AsyncIterable<Uint8Array>;
  /** The descriptor, by which a file is recognized, as with `< counts.csv`. Absent if the input has none. */
  readonly descriptor?: number | undefined;
}

export interface Output {
  readonly isTerminal: boolean;
  /** Current width in characters; undefined if it is not known. */
  readonly columns: number | undefined;
  /** Current height in lines; absent if it is not known. */
  readonly rows?: number | undefined;
  /**
   * Resolves once the stream accepts more.
   * @throws ClosedPipeError if the reader has exited
   */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Returns a text without any key that was sent. Call this before truncating or wrapping. Set by `guardedContext`. */
  redact?(text: string): string;
}

/**
 * Questions on the terminal. Used only if stdin and stderr are terminals.
 *
 * Each throws InterruptedError if the user cancels it, for example with Ctrl-C or Ctrl-D.
 */
export interface Prompts {
  /** Asks without showing what is typed. */
  password(question: string): Promise<string>;
  /**
   * Asks for a yes, or for a word. After a mistyped word, asks once more. A scanned bar code is no answer.
   * @param typed the word that must be typed instead of a yes, in upper or lower case
   */
  confirm(question: string, typed?: string): Promise<boolean>;
  text(question: string): Promise<string>;
}

export interface PagerCommand {
  /** A command line, such as `less -R`. */
  readonly command: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * A program that uses the terminal until the user quits it. Meanwhile, Ctrl-C does not end petstock, but aborts
 * `interrupted`.
 */
export interface Pager {
  /**
   * Resolves once the pager accepts more.
   * @throws ClosedPipeError if the pager's input is closed
   */
  write(text: string): Promise<void>;
  end(): void;
  /**
   * Resolves when the pager has ended: to `left` if the user quit it, to `missing` if it could not be run and has shown
   * nothing, to `failed` if it has ended with an error.
   */
  readonly ended: Promise<'left' | 'missing' | 'failed'>;
}
