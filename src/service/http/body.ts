import { Refusal } from './answer.ts';
import type { Exchange } from './exchange.ts';

const MAX_BODY_BYTES = 16 * 1024;

/** The client went away, or was refused by the HTTP parser, before its body was complete: no one is left to answer. */
export class BodyCutOff extends Error {
  override readonly name = 'BodyCutOff';
}

/**
 * The body as text.
 * @throws Refusal 413 when it is larger than MAX_BODY_BYTES, 400 when it is not UTF-8
 * @throws BodyCutOff when it ends early
 */
export async function readBody(exchange: Exchange): Promise<string> {
  if (Number(exchange.request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  exchange.welcomeBody();
  const bytes = await collect(exchange);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    exchange.entry.read(text);
    return text;
  } catch (error) {
    throw error instanceof TypeError ? new Refusal(400, 'invalid_json', 'The body is not UTF-8.') : error;
  }
}

/** What is over the size is still taken off the connection, but not kept: the client can read its answer. */
function collect({ request }: Exchange): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) return void chunks.push(chunk);
      request.off('data', take).resume();
      reject(tooLarge());
    };
    request
      .on('data', take)
      .once('end', () => resolve(Buffer.concat(chunks)))
      .once('error', () => reject(new BodyCutOff()))
      .once('close', () => (request.readableEnded ? undefined : reject(new BodyCutOff())));
  });
}

function tooLarge(): Refusal {
  return new Refusal(413, 'payload_too_large', `The body is larger than ${MAX_BODY_BYTES} bytes.`);
}
