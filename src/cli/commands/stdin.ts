import type { Input } from '../context.ts';

/** All of stdin. */
export async function readAll(stdin: Pick<Input, 'chunks'>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin.chunks) chunks.push(chunk);
  return Buffer.concat(chunks);
}
