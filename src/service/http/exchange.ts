import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OpenEntry } from '../journal.ts';
import type { ShownLimit } from '../limits/admission.ts';
import { Refusal } from './answer.ts';

/** One request and its answer. */
export class Exchange {
  readonly id = randomUUID();
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly entry: OpenEntry;
  /** Of the client; where proxies are trusted, as they say. */
  readonly address: string;
  /** How long the client may read nothing of a streamed answer. */
  readonly readMs: number;
  /** What the X-RateLimit headers of the answer tell; null until the request has been admitted or refused. */
  shown: ShownLimit | null = null;
  /** The key that the request was made with; null until it has been found valid. */
  validKey: string | null = null;
  /** The path with its parameters by name, `/inventory/{petId}`; null where there is no such route. */
  route: string | null = null;
  /** The code of the error that was answered. */
  code: string | null = null;
  /** What failed, where the answer is a 5xx of this service's own. */
  cause: unknown;
  /** Headers of every answer on this path. */
  pathHeaders: Readonly<Record<string, string>> = {};
  /** True while the client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean;
  /** True when the request is left without an answer on purpose, until one of both sides hangs up. */
  abandoned = false;

  constructor(request: IncomingMessage, response: ServerResponse, entry: OpenEntry, address: string, readMs: number) {
    this.readMs = readMs;
    this.address = address;
    this.request = request;
    this.response = response;
    this.entry = entry;
    // A client of HTTP/1.0 would take the interim answer for the answer.
    this.awaitsContinue = request.httpVersion === '1.1' && request.headers.expect?.toLowerCase() === '100-continue';
  }

  get method(): string {
    return this.request.method ?? 'GET';
  }

  get target(): string {
    return this.request.url ?? '/';
  }

  /** True once nothing can be written any more. A pipelined response does not show it, its socket does. */
  get isCut(): boolean {
    const { socket } = this.request;
    return this.response.destroyed || socket.destroyed || socket.writableEnded;
  }

  /** Tells a client that waits with its body to send it. */
  welcomeBody(): void {
    if (!this.awaitsContinue) return;
    this.awaitsContinue = false;
    this.response.writeContinue();
  }
}

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
