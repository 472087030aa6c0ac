import type { Clock, Deadline } from '../shared/clock.ts';
import { PetstockError } from '../shared/errors.ts';
import { redactorOf } from '../shared/redact.ts';
import { type BodyBound, mostBytes, tooLong, wholeBody } from './body.ts';
import { decodedChunks } from './content-encoding.ts';
import type { HttpRequest, HttpResponse, Transport } from './transport.ts';
import { decodeUtf8 } from './utf8.ts';

/** An answer whose body has been decoded from its content encoding. */
export interface Answer {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  /** The body as it comes. Once only. @throws NetworkFault, and the reason of `interrupted` */
  chunks(): AsyncIterable<Uint8Array>;
  /** Waits for something that is not the service: meanwhile the time-out stands still. */
  pauseTimeout<T>(work: () => Promise<T>): Promise<T>;
  /** The whole body. Once only. @throws FailureError where it is longer than the bound */
  bytes(bound: BodyBound): Promise<Uint8Array>;
  /** The whole body as UTF-8 text. Once only. @throws FailureError where it is longer than the bound, or no UTF-8 */
  text(bound: BodyBound): Promise<string>;
  /**
   * The body as text, or nothing where it can't be read: for what only words an error. Once only.
   * @throws the reason of `interrupted`
   */
  textOrNothing(): Promise<string>;
  /** Takes the key out of text that was made of the answer: a service may repeat what it refuses. */
  redact(text: string): string;
}

/** No answer, or half of one: the connection failed, broke, or took too long. */
export class NetworkFault extends Error {
  override readonly name = 'NetworkFault';
  /** The head of an answer had come. */
  readonly answered: boolean;

  constructor(
    message: string,
    { cause, answered = false }: { readonly cause?: unknown; readonly answered?: boolean } = {},
  ) {
    super(message, { cause });
    this.answered = answered;
  }

  /** There was not even a connection, or none that can be trusted, so nothing was sent. */
  get unconnected(): boolean {
    return unconnectedCodes.has(this.#code) || this.untrusted;
  }

  /** The certificate of the service was refused. */
  get untrusted(): boolean {
    return untrusted.test(this.#code);
  }

  /** As Node and OpenSSL name it: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  get code(): string {
    return this.#code;
  }

  get #code(): string {
    const { code = '' } = (this.cause ?? {}) as NodeJS.ErrnoException;
    return code;
  }
}

const unconnectedCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EPROXY']);
/** What is wrong with a certificate is found before anything is sent. */
const untrusted =
  /^(?:CERT_|ERR_TLS_CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$)/;

export interface ExchangeOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** For one request, from its sending to the end of its body, in milliseconds. */
  readonly timeout: number;
  /** Undefined: only the time-out ends it. */
  readonly interrupted: AbortSignal | undefined;
}

/**
 * Sends one request and lets `use` read the answer, all of it within the time-out.
 *
 * @throws NetworkFault where the network or the time-out ended it
 * @throws the reason of `interrupted`, and whatever `leaving` and `use` throw
 */
export async function exchange<T>(
  request: Omit<HttpRequest, 'signal'>,
  options: ExchangeOptions,
  use: (answer: Answer) => Promise<T>,
): Promise<T> {
  const { interrupted } = options;
  interrupted?.throwIfAborted();
  // Not AbortSignal.any: on Node 20 that leaves a reference at `interrupted`, which outlives all requests, for each.
  const ended = new AbortController();
  const end = () => ended.abort();
  const timeLimit = startTimeLimit(options, end);
  interrupted?.addEventListener('abort', end);
  let response: HttpResponse | undefined;
  const fault = (error: unknown): unknown => {
    if (interrupted?.aborted) return interrupted.reason;
    if (timeLimit.passed()) {
      return new NetworkFault(`no answer within ${options.timeout / 1000} s`, {
        cause: error,
        answered: response !== undefined,
      });
    }
    // Whatever the network, undici and zlib fail with bears a code, but for an answer that is no HTTP; anything else is
    // a mistake in the program.
    if (error instanceof PetstockError) return error;
    const { code, name } = error as NodeJS.ErrnoException;
    if (code === 'UND_ERR_HEADERS_OVERFLOW') return tooLong('The head of the answer', mostBytes.headers);
    if (typeof code !== 'string' && name !== 'HTTPParserError') return error;
    return new NetworkFault(describe(error), { cause: error, answered: response !== undefined });
  };
  try {
    request.leaving?.();
    response = await options.transport({ ...request, signal: ended.signal }).catch((error) => {
      throw fault(error);
    });
    const key = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    const { pauseTimeout } = timeLimit;
    return await use(toAnswer(response, { interrupted, redact: redactorOf([key]), fault, pauseTimeout }));
  } finally {
    timeLimit.stop();
    interrupted?.removeEventListener('abort', end);
    response?.discard();
  }
}

/** The time-out of one request. It does not run while something else than the service is waited for. */
function startTimeLimit({ clock, timeout }: ExchangeOptions, onEnd: () => void) {
  let left = timeout;
  let since = 0;
  let deadline: Deadline;
  let hasPassed = false;
  const onPassed = () => {
    hasPassed = true;
    onEnd();
  };
  const start = () => {
    since = clock.monotonic();
    deadline = clock.deadline(left, onPassed);
  };
  const stop = () => {
    left = Math.max(0, left - (clock.monotonic() - since));
    deadline.clear();
  };
  start();
  return {
    passed: () => hasPassed,
    stop,
    pauseTimeout: async <T>(work: () => Promise<T>): Promise<T> => {
      stop();
      try {
        return await work();
      } finally {
        start();
      }
    },
  };
}

/** What the reading of a body has to know. */
interface Reading {
  readonly interrupted: AbortSignal | undefined;
  redact(text: string): string;
  /** What an error of the network comes to. */
  fault(error: unknown): unknown;
  readonly pauseTimeout: Answer['pauseTimeout'];
}

function toAnswer(response: HttpResponse, { interrupted, redact, fault, pauseTimeout }: Reading): Answer {
  const { status, headers } = response;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const body = decodedChunks(response);
    try {
      yield* body;
    } catch (error) {
      throw fault(error);
    }
  }
  const bytes = async (bound: BodyBound): Promise<Uint8Array> => {
    // Not through `chunks`: for a small answer each generator is a part of its cost.
    try {
      return await wholeBody(decodedChunks(response), bound);
    } catch (error) {
      throw fault(error);
    }
  };
  const text = async (bound: BodyBound) => decodeUtf8(await bytes(bound));
  const textOrNothing = () =>
    text({ most: mostBytes.item, of: 'a request' }).catch(() => {
      interrupted?.throwIfAborted();
      return '';
    });
  return { status, headers, chunks, pauseTimeout, bytes, text, textOrNothing, redact };
}

/** Node's and undici's network errors in a few words: `connect ECONNREFUSED 127.0.0.1:4010`. */
function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0]);
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}
