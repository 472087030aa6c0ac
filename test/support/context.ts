import { join } from 'node:path';
import type { HttpRequest, HttpResponse, Transport, TransportOptions } from '../../src/api/transport.ts';
import { createUndiciTransport } from '../../src/api/undici.ts';
import type { Context, Input, Output, Pager, PagerCommand, Prompts } from '../../src/cli/context.ts';
import { main } from '../../src/cli/main.ts';
import type { Folders } from '../../src/settings/folders.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { InterruptedError } from '../../src/shared/errors.ts';

export interface RecordedRequest {
  readonly method: string;
  /** The path with the query, without the origin: `/v1/inventory/7`. */
  readonly path: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly requests: readonly RecordedRequest[];
}

export interface RunOptions {
  readonly clock: Clock;
  readonly folders: Folders;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The machine on which the command seems to run; default `test`. Each machine has its own processes, which others
   * don't know.
   */
  readonly host?: string | undefined;
  /** The content of stdin. If absent, stdin ends at once. */
  readonly stdin?: string | Uint8Array | undefined;
  /** Keys typed at a terminal in raw mode, in pieces. */
  readonly keys?: readonly string[] | undefined;
  /** The descriptor of the file that stdin is, as with `< counts.csv`. */
  readonly stdinDescriptor?: number | undefined;
  /** The width of the terminal to which stdin, stdout and stderr are connected. */
  readonly terminal?: number | undefined;
  /** The height of the terminal in lines. Absent if it is not known, so that nothing is paged. */
  readonly rows?: number | undefined;
  /** Whether stdout and stderr go to the same place; default: no. */
  /** Starts a pager. If absent, starting a pager fails the test. */
  openPager?(command: PagerCommand): Pager;
  /** The streams that are the terminal; default: all three. */
  readonly terminals?: readonly ('stdin' | 'stdout' | 'stderr')[] | undefined;
  /** Answers questions. If absent, a question fails the test. */
  readonly prompts?: Partial<Prompts> | undefined;
  readonly interrupted?: AbortSignal | undefined;
  /** Presses Ctrl-C once stderr matches this, or once a request is sent for which this returns true. */
  readonly ctrlCAt?: RegExp | ((request: RecordedRequest) => boolean) | undefined;
  onStdout?(text: string): void;
  onStderr?(text: string): void;
  /** Wraps the transport: a stopped process waits here, and a killed process waits for ever. */
  around?(send: () => Promise<HttpResponse>): Promise<HttpResponse>;
  onSent?(request: RecordedRequest): void;
  /** Opens the state in place of `openState`, for example to release the locks of a process that is killed. */
  readonly openState?: Context['openState'];
  /** Returns a number in [0, 1); default 0.5. */
  random?(): number;
}

const transport = createUndiciTransport();

/** Runs a command line in this process, against real files and real sockets. */
export async function runMain(argv: readonly string[], options: RunOptions): Promise<RunResult> {
  const requests: RecordedRequest[] = [];
  const ctrlC = new AbortController();
  const interrupt = () => ctrlC.abort(new InterruptedError('Interrupted'));
  const { ctrlCAt } = options;
  const { terminal, terminals = ['stdin', 'stdout', 'stderr'] } = options;
  const isTerminal = (name: 'stdin' | 'stdout' | 'stderr') => terminal !== undefined && terminals.includes(name);
  const stdout = {
    ...collector(isTerminal('stdout'), terminal, options.onStdout),
    rows: options.rows,
  };
  const stderr = collector(isTerminal('stderr'), terminal, (text) => {
    options.onStderr?.(text);
    if (ctrlCAt instanceof RegExp && ctrlCAt.test(text)) interrupt();
  });
  const onSent = (request: RecordedRequest) => {
    options.onSent?.(request);
    if (typeof ctrlCAt === 'function' && ctrlCAt(request)) interrupt();
  };
  const context: Context = {
    argv,
    // Notes are tested where they are printed, which is not only on a terminal with this variable. The gates of other
    // runs in the temporary folder of this machine must not affect the test.
    env: { PETSTOCK_VERBOSE: 'true', TMPDIR: join(options.folders.state, '..'), ...options.env },
    stdin: {
      ...input(options.stdin, isTerminal('stdin')),
      ...(options.keys && { keys: () => keysOf(options.keys ?? []) }),
      descriptor: options.stdinDescriptor,
    },
    stdout,
    stderr,
    clock: options.clock,
    openTransport: (network) => recording(requests, { ...options, onSent }, transportOf(network)),
    openPager: async (command) => {
      if (options.openPager === undefined) throw new Error(`the test did not expect a pager: ${command.command}`);
      return options.openPager(command);
    },
    folders: options.folders,
    self: { host: options.host ?? 'test', pid: 1 },
    suspension: { add: () => () => {} },
    ...(options.openState && { openState: options.openState }),
    prompts: { password: unasked, confirm: unasked, text: unasked, ...options.prompts },
    interrupted: options.interrupted ?? ctrlC.signal,
    onHangup: () => {},
    watchReader: async () => () => {},
    random: options.random ?? (() => 0.5),
  };
  const code = await main(context);
  return { code, stdout: stdout.text(), stderr: stderr.text(), requests };
}

/** Returns the shared transport, or a new one for an authority or a proxy. */
function transportOf({ ca, proxy }: TransportOptions): Transport {
  return ca === undefined && proxy === undefined ? transport : createUndiciTransport({ ca, proxy });
}

function recording(requests: RecordedRequest[], options: RunOptions, transport: Transport): Transport {
  return (request: HttpRequest) => {
    const { pathname, search } = new URL(request.url);
    const body = request.body === undefined ? undefined : Buffer.from(request.body).toString('utf8');
    const { method, url, headers } = request;
    const recorded = { method, path: pathname + search, url, headers, body };
    const send = () => {
      requests.push(recorded);
      const answer = transport(request);
      options.onSent?.(recorded);
      return answer;
    };
    return options.around === undefined ? send() : options.around(send);
  };
}

function collector(
  isTerminal: boolean,
  columns: number | undefined,
  onWrite?: (text: string) => void,
): Output & { text(): string } {
  const chunks: Buffer[] = [];
  return {
    isTerminal,
    columns: isTerminal ? columns : undefined,
    write: async (chunk) => {
      chunks.push(Buffer.from(chunk));
      onWrite?.(Buffer.from(chunk).toString('utf8'));
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
}

/** Returns an input that yields up to 64 pieces, which may split a character, like a slow pipe. */
function input(content: string | Uint8Array | undefined, isTerminal: boolean): Input {
  return {
    isTerminal,
    chunks: {
      async *[Symbol.asyncIterator]() {
        const bytes = Buffer.from(content ?? '');
        const length = Math.max(3, Math.ceil(bytes.length / 64));
        for (let start = 0; start < bytes.length; start += length) yield bytes.subarray(start, start + length);
      },
    },
  };
}

async function* keysOf(pieces: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece);
}

function unasked(question: string): Promise<never> {
  throw new Error(`the test did not expect a question: ${question}`);
}
