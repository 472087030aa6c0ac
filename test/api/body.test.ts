import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { decodedChunks } from '../../src/api/body.ts';

/** Yields the bytes in pieces of one reused buffer, like a socket that is read into one buffer. */
async function* fromOneBuffer(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(size);
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    buffer.set(piece);
    yield buffer.subarray(0, piece.length);
  }
}

test('decodes a body whose source overwrites the buffer of each chunk', async () => {
  const text = Array.from({ length: 2000 }, (_, index) => `pet ${index * 7919}\n`).join('');
  const body = fromOneBuffer(gzipSync(text), 50);
  const chunks: Uint8Array[] = [];
  const response = { status: 200, headers: { 'content-encoding': 'gzip' }, body, discard: () => {} };
  for await (const chunk of decodedChunks(response)) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe(text);
});
