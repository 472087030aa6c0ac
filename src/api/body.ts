import { FailureError } from '../shared/errors.ts';
import type { HttpResponse } from './transport.ts';

const KiB = 1024;

/**
 * Maximum sizes in bytes, after decoding, so that a response can't fill the memory. A list may have any size; only its
 * items are limited.
 */
export const maxBodyBytes = {
  /** One item that was asked for alone, or the body of an error. */
  item: 1024 * KiB,
  /** Any other body that is held as a whole, and any body that `Client.request` returns. */
  payload: 16 * 1024 * KiB,
  /** The head of a response. */
  headers: 64 * KiB,
} as const;

/** The maximum size of a body in bytes, and the request that a message names if the body is longer. */
export interface BodyBound {
  readonly most: number;
  /** The request, like `GET /store/orders`. */
  readonly of: string;
}

/**
 * Reads a whole body. Its decoded bytes are counted as they arrive, and nothing more is read once there are too many.
 * @throws FailureError if the body is longer than the bound; otherwise whatever reading it throws
 */
export async function wholeBody(chunks: AsyncIterable<Uint8Array>, { most, of }: BodyBound): Promise<Uint8Array> {
  const held = new HeldBytes();
  for await (const chunk of chunks) {
    if (held.length + chunk.length > most) throw tooLong(`The response to ${of}`, most);
    held.add(chunk);
  }
  return held.bytes;
}

const none = new Uint8Array(0);

/**
 * A growing buffer in one piece. Keeping the chunks would cost more than their content: a chunk of one byte holds on to
 * everything that was read from the connection with it.
 */
export class HeldBytes {
  #room = none;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get bytes(): Uint8Array {
    return this.#room.subarray(0, this.#length);
  }

  /** Empties the buffer; later bytes overwrite its content. */
  clear(): void {
    this.#length = 0;
  }

  add(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#room.length) {
      const room = new Uint8Array(Math.max(needed, 2 * this.#room.length));
      room.set(this.bytes);
      this.#room = room;
    }
    this.#room.set(chunk, this.#length);
    this.#length = needed;
  }
}

/** @param what the subject of the message, like `The response to GET /inventory` */
export function tooLong(what: string, most: number): FailureError {
  const size = most < 1024 * KiB ? `${most / KiB} KiB` : `${most / KiB / KiB} MiB`;
  return new FailureError(`${what} exceeds the maximum of ${size}. It was not read completely`);
}

/** @throws FailureError if the bytes are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw notUtf8(cause);
  }
}

export function notUtf8(cause: unknown): FailureError {
  return new FailureError('The response from the service is not UTF-8 text', { cause });
}

type Zlib = typeof import('node:zlib');
type Decoder = ReturnType<Zlib['createGunzip']> | ReturnType<Zlib['createBrotliDecompress']>;

/** A decoder returns at most as many bytes at a time as a socket. */
const options = { chunkSize: 64 * 1024 };

const decoders: Readonly<Record<string, (zlib: Zlib) => Decoder>> = {
  gzip: ({ createGunzip }) => createGunzip(options),
  'x-gzip': ({ createGunzip }) => createGunzip(options),
  deflate: ({ createInflate }) => createInflate(options),
  br: ({ createBrotliDecompress }) => createBrotliDecompress(options),
};

/**
 * Returns the body as it arrives, decoded by its `content-encoding`.
 * @throws FailureError for an encoding that is not supported; while the body is read, errors of the network and of zlib
 */
export function decodedChunks({ body, headers }: HttpResponse): AsyncIterable<Uint8Array> {
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return body;
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
  if (decoder !== undefined) return decoded(body, decoder);
  // The name of the encoding is not shown, because it would be the service's text in petstock's sentence.
  throw new FailureError('The service used a content encoding that was not requested');
}

/** Decodes a body, unless it is empty: the response to a HEAD, or a 204, may name an encoding without a body. */
async function* decoded(body: AsyncIterable<Uint8Array>, create: (zlib: Zlib) => Decoder): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return;
  const [zlib, { pipeline }] = await Promise.all([import('node:zlib'), import('node:stream/promises')]);
  const decoder = create(zlib);
  const feeding = pipeline(copies(first.value, { [Symbol.asyncIterator]: () => chunks }), decoder);
  // The promise also rejects if the reader stops early, but that is not an error. The reader gets any other error from
  // the decoder.
  feeding.catch(() => {});
  yield* decoder;
  await feeding;
}

/** Copies each chunk, because a decoder requests more before it is done with the last one. */
async function* copies(first: Uint8Array, others: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first.slice();
  for await (const chunk of others) yield chunk.slice();
}
