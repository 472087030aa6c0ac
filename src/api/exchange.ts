import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Clock } from '../context.ts';
import { FailureError } from '../errors.ts';
import type { HttpRequest, HttpResponse, Transport } from '../transport.ts';

/** An answer whose body has been decoded from its content encoding. */
export interface Answer {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  /** The whole body. Once only. */
  bytes(): Promise<Uint8Array>;
  /** The whole body as UTF-8 text. Once only. @throws FailureError where it is no UTF-8 */
  text(): Promise<string>;
  /**
   * The body as text, or nothing where it can't be read: for what only words an error. Once only.
   * @throws the reason of `interrupted`
   */
  textOrNothing(): Promise<string>;
}

/** No answer, or half of one: the connection failed, broke, or took too long. */
export class NetworkFault extends Error {
  override readonly name = 'NetworkFault';

  /** There was not even a connection, so nothing was sent. */
  get unconnected(): boolean {
    const { code = '' } = (this.cause ?? {}) as NodeJS.ErrnoException;
    return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code);
  }
}

export interface ExchangeOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** For one request, from its sending to the end of its body, in milliseconds. */
  readonly timeout: number;
  readonly interrupted: AbortSignal;
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
  options.interrupted.throwIfAborted();
  const deadline = options.clock.deadline(options.timeout);
  // Not AbortSignal.any: on Node 20 that leaves a reference at `interrupted`, which outlives all requests, for each.
  const ended = new AbortController();
  const end = () => ended.abort();
  const sources = [options.interrupted, deadline.signal];
  for (const source of sources) source.addEventListener('abort', end);
  let response: HttpResponse | undefined;
  const fault = (error: unknown): unknown => {
    if (options.interrupted.aborted) return options.interrupted.reason;
    if (deadline.signal.aborted) {
      return new NetworkFault(`no answer within ${options.timeout / 1000} s`, { cause: error });
    }
    // Whatever the network, undici and zlib fail with bears a code, but for an answer that is no HTTP; anything else is
    // a mistake in the program.
    const { code, name } = error as NodeJS.ErrnoException;
    if (typeof code !== 'string' && name !== 'HTTPParserError') return error;
    return new NetworkFault(describe(error), { cause: error });
  };
  try {
    request.leaving?.();
    response = await options.transport({ ...request, signal: ended.signal }).catch((error) => {
      throw fault(error);
    });
    const secret = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    return await use(toAnswer(response, { interrupted: options.interrupted, secret, fault }));
  } finally {
    deadline.clear();
    for (const source of sources) source.removeEventListener('abort', end);
    response?.discard();
  }
}

/** What the reading of a body has to know. */
interface Reading {
  readonly interrupted: AbortSignal;
  /** The key, which is left out of what only words an error. */
  readonly secret: string;
  /** What an error of the network comes to. */
  fault(error: unknown): unknown;
}

/** What only words an error is read up to this many bytes. */
const longestWords = 64 * 1024;

function toAnswer(response: HttpResponse, reading: Reading): Answer {
  const { interrupted, secret, fault } = reading;
  const bytes = async (most = Number.POSITIVE_INFINITY): Promise<Uint8Array> => {
    const decompress = decompressorOf(response);
    const chunks: Uint8Array[] = [];
    try {
      let length = 0;
      for await (const chunk of response.body) {
        length += chunk.length;
        if (length > most) throw new FailureError('The answer is longer than anything that was asked for');
        chunks.push(chunk);
      }
      const body = Buffer.concat(chunks);
      // Nothing came: the answer to a HEAD, or a 204, whatever its headers say of a body.
      return decompress === undefined || body.length === 0 ? body : await decompress(body);
    } catch (error) {
      throw fault(error);
    }
  };
  const text = async (most?: number) => decodeUtf8(await bytes(most));
  const textOrNothing = async () => {
    const words = await text(longestWords).catch(() => {
      interrupted.throwIfAborted();
      return '';
    });
    // A service may repeat the key that it refuses; what is made of its words goes to screens, logs and the history.
    return secret === '' ? words : words.replaceAll(secret, '[key]');
  };
  const { status, headers } = response;
  return { status, headers, bytes: () => bytes(), text: () => text(), textOrNothing };
}

const decompressors = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** @returns undefined for a body that is not compressed */
function decompressorOf({ headers }: HttpResponse): ((body: Buffer) => Promise<Uint8Array>) | undefined {
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return undefined;
  if (Object.hasOwn(decompressors, encoding)) return decompressors[encoding as keyof typeof decompressors];
  throw new FailureError(`The service answered in an unknown content encoding, "${encoding}"`);
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new FailureError('The answer of the service is not UTF-8 text', { cause });
  }
}

/** Node's and undici's network errors in a few words: `connect ECONNREFUSED 127.0.0.1:4010`. */
function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0]);
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}
