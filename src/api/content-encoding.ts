import { FailureError } from '../shared/errors.ts';
import type { HttpResponse } from './transport.ts';

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
  throw new FailureError(`The service answered in an unknown content encoding, "${encoding}"`);
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
  const feeding = pipeline(chained(first.value, { [Symbol.asyncIterator]: () => chunks }), decoder);
  // It fails too when the reader stops early. Where the body or the decoder failed, reading it fails.
  feeding.catch(() => {});
  yield* decoder;
  await feeding;
}

async function* chained(first: Uint8Array, others: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* others;
}
