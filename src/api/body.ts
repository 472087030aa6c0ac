import { FailureError } from '../shared/errors.ts';
import type { HttpResponse } from './transport.ts';

const KiB = 1024;

/** The largest answer, in bytes after decoding: more would fill the memory. A list has no bound except for each item. */
export const maxBodyBytes = {
  /** One item, of a list too; the body of an error. */
  item: 1024 * KiB,
  /** Whatever else is held as a whole. */
  payload: 16 * 1024 * KiB,
  /** The head of an answer. */
  headers: 64 * KiB,
} as const;

/** How much of a body is held, and whose it is, for a message. */
export interface BodyBound {
  readonly most: number;
  /** `GET /store/orders` */
  readonly of: string;
}

/**
 * The whole of a body. Its bytes are counted as they come, decoded, and nothing more is read once they are too many.
 * @throws FailureError if it is longer; else what reading it throws
 */
export async function wholeBody(chunks: AsyncIterable<Uint8Array>, bound: BodyBound): Promise<Uint8Array> {
  const held = new HeldBytes();
  for await (const chunk of chunks) {
    requireWithin(held.length + chunk.length, bound);
    held.add(chunk);
  }
  return held.bytes;
}

const none = new Uint8Array(0);

/**
 * Bytes that are held in one piece, as they come. Chunks that are kept would cost more than what is in them: one of a single byte holds on to all
 * that was read from the connection with it.
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

  /** Its bytes are overwritten by those that come next. */
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

/** @throws FailureError if a body is longer than the bound */
export function requireWithin(length: number, { most, of }: BodyBound): void {
  if (length > most) throw tooLong(`The answer to ${of}`, most);
}

/** @param what begins the sentence */
export function tooLong(what: string, most: number): FailureError {
  const size = most < 1024 * KiB ? `${most / KiB} KiB` : `${most / KiB / KiB} MiB`;
  return new FailureError(`${what} is longer than ${size}, which makes no sense. It was not read to its end`);
}

/**
 * @param keepMark whether a byte order mark at the beginning is a character like any other
 * @throws FailureError if it is no UTF-8
 */
export function decodeUtf8(bytes: Uint8Array, keepMark = false): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: keepMark }).decode(bytes);
  } catch (cause) {
    throw new FailureError('The answer of the service is not UTF-8 text', { cause });
  }
}

type Zlib = typeof import('node:zlib');
type Decoder = ReturnType<Zlib['createGunzip']> | ReturnType<Zlib['createBrotliDecompress']>;

/** Bytes that a decoder gives at a time: as many as a socket. */
const options = { chunkSize: 64 * 1024 };

const decoders: Readonly<Record<string, (zlib: Zlib) => Decoder>> = {
  gzip: ({ createGunzip }) => createGunzip(options),
  'x-gzip': ({ createGunzip }) => createGunzip(options),
  deflate: ({ createInflate }) => createInflate(options),
  br: ({ createBrotliDecompress }) => createBrotliDecompress(options),
};

/**
 * The body of an answer as it comes, decoded as `content-encoding` says.
 * @throws FailureError for an encoding that was not asked for; later, whatever the network and zlib fail with
 */
export function decodedChunks(response: HttpResponse): AsyncIterable<Uint8Array> {
  const { body } = response;
  const encoding = encodingOf(response);
  if (encoding === 'identity') return body;
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
  if (decoder !== undefined) return decoded(body, decoder);
  // Its name would be words of the service in a sentence of ours.
  throw new FailureError('The service answered in a content encoding that was not asked for');
}

/** Whether the bytes of the body are those that came. */
export function isPlain(response: HttpResponse): boolean {
  return encodingOf(response) === 'identity';
}

function encodingOf({ headers }: HttpResponse): string {
  return String(headers['content-encoding'] ?? 'identity').toLowerCase();
}

/** Nothing at all is not decoded: the answer to a HEAD, or a 204, names an encoding without a body. */
async function* decoded(body: AsyncIterable<Uint8Array>, create: (zlib: Zlib) => Decoder): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return;
  const [zlib, { pipeline }] = await Promise.all([import('node:zlib'), import('node:stream/promises')]);
  const decoder = create(zlib);
  const feeding = pipeline(copies(first.value, { [Symbol.asyncIterator]: () => chunks }), decoder);
  // It fails too when the reader stops early. Where the body or the decoder failed, reading it fails.
  feeding.catch(() => {});
  yield* decoder;
  await feeding;
}

/** A decoder asks for more before it is done with a chunk. */
async function* copies(first: Uint8Array, others: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first.slice();
  for await (const chunk of others) yield chunk.slice();
}
