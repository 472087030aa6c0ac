import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Harm } from '../faults/grammar.ts';
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';

/**
 * Sends a response. Resolves once all of it was handed to Node, or the client has disconnected.
 * @param headers those of all responses to this request; the others are added
 * @param harm a fault that damages the response
 */
export async function send(
  { response, method, entry }: Exchange,
  answer: Answer,
  headers: Record<string, string>,
  harm: Harm | null = null,
): Promise<void> {
  if (response.destroyed) return;
  const body = harm?.kind === 'malform' ? malformed(answer.body) : answer.body;
  Object.assign(headers, answer.headers);
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  // The length of a longer body is not known without encoding it.
  if (body?.length === 1) headers['Content-Length'] = String(Buffer.byteLength(body[0] ?? ''));
  if (harm?.kind === 'without') {
    for (const name of Object.keys(headers)) if (harm.headers.includes(name.toLowerCase())) delete headers[name];
  }
  response.writeHead(answer.status, headers);
  entry.status = answer.status;
  if (method === 'HEAD' || body === undefined) {
    response.end();
  } else if (harm?.kind === 'truncate') {
    const [first = ''] = body;
    response.write(first.slice(0, Math.ceil(first.length / 2)), () => response.destroy());
  } else if (body.length === 1) {
    response.end(body[0]);
  } else {
    // A client that disconnects is not an error.
    await pipeline(Readable.from(body), response).catch(() => response.destroy());
  }
}

/** Makes JSON invalid by replacing its first character. */
function malformed(body: Answer['body']): Answer['body'] {
  if (body === undefined) return undefined;
  const [first = '', ...others] = body;
  return [`<${first.slice(1)}`, ...others];
}
