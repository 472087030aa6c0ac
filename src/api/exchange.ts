import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Clock } from '../context.ts';
import { FailureError } from '../errors.ts';
import type { HttpRequest, HttpResponse, Transport } from './transport.ts';

/** An answer whose body has been decoded from its content encoding. */
export interface Answer {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  /** The whole body. Once only. */
  bytes(): Promise<Uint8Array>;
  /** The whole body as UTF-8 text. Once only. @throws FailureError where it is no UTF-8 */
  text(): Promise<string>;
}

/** No answer, or half of one: the connection failed, broke, or took too long. */
export class NetworkFault extends Error {
  override readonly name = 'NetworkFault';
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
 * @throws the reason of `interrupted`, and whatever `use` throws
 */
export async function exchange<T>(
  request: Omit<HttpRequest, 'signal'>,
  options: ExchangeOptions,
  use: (answer: Answer) => Promise<T>,
): Promise<T> {
  const deadline = options.clock.deadline(options.timeout);
  const signal = AbortSignal.any([options.interrupted, deadline.signal]);
  let response: HttpResponse | undefined;
  const fault = (error: unknown): unknown => {
    if (options.interrupted.aborted) return options.interrupted.reason;
    if (deadline.signal.aborted) {
      return new NetworkFault(`no answer within ${options.timeout / 1000} s`, { cause: error });
    }
    // Whatever the network, undici and zlib fail with bears a code; anything else is a mistake in the program.
    if (typeof (error as NodeJS.ErrnoException).code !== 'string') return error;
    return new NetworkFault(describe(error), { cause: error });
  };
  try {
    response = await options.transport({ ...request, signal }).catch((error) => {
      throw fault(error);
    });
    return await use(toAnswer(response, fault));
  } finally {
    deadline.clear();
    response?.discard();
  }
}

function toAnswer(response: HttpResponse, fault: (error: unknown) => unknown): Answer {
  const bytes = async (): Promise<Uint8Array> => {
    const body = decompress(response);
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of body) chunks.push(chunk);
    } catch (error) {
      throw fault(error);
    }
    return Buffer.concat(chunks);
  };
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    text: async () => decodeUtf8(await bytes()),
  };
}

const decompressors = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function decompress(response: HttpResponse): AsyncIterable<Uint8Array> {
  const encoding = String(response.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return response.body;
  const create = Object.hasOwn(decompressors, encoding) && decompressors[encoding as keyof typeof decompressors];
  if (!create) throw new FailureError(`The service answered in an unknown content encoding, "${encoding}"`);
  // pipeline() hands an error of either side to whoever reads the decompressor.
  return pipeline(response.body, create(), () => {}) as Readable;
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
