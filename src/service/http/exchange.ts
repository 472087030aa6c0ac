import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CHARACTERS_KEPT, type Journal } from '../journal.ts';
import type { ShownLimit } from '../limits/admission.ts';
import { Refusal } from './answer.ts';

const BASE = '/v1';

/** Matches nearly all targets: no origin, no query, nothing encoded. */
const PLAIN = /^\/v1\/[\w/-]*$/;

interface RequestTarget {
  /** Relative to the base address, as it was sent, without the query: `/inventory/5`. */
  readonly path: string;
  /** The segments of the path, decoded unless its percent-encoding is malformed; null when it is outside the base address. */
  readonly segments: readonly string[] | null;
  readonly malformed: boolean;
}

/** Reads a request target: `/v1/inventory?x`, or the absolute form that proxies are sent, `http://host/v1/inventory`. */
export function parseTarget(requestTarget: string): RequestTarget {
  if (PLAIN.test(requestTarget)) {
    const path = requestTarget.slice(BASE.length);
    return { path, segments: path.slice(1).split('/'), malformed: false };
  }
  const whole = requestTarget.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
  const path = whole.startsWith(`${BASE}/`) ? whole.slice(BASE.length) : null;
  if (path === null) return { path: whole, segments: null, malformed: decoded(whole) === null };
  const segments = decoded(path.slice(1));
  // As they came they find the route, whose headers are on every answer.
  return { path, segments: segments ?? path.slice(1).split('/'), malformed: segments === null };
}

function decoded(path: string): string[] | null {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return null;
  }
}

interface Route {
  /** The path with its parameters by name, `/inventory/{petId}`. */
  readonly path: string;
  /** The id of a pet in the path, if it is one; anything else may be a key that is not where it belongs. */
  readonly petId: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

interface Parts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: RequestTarget;
  /** Null if there is no such path in the API. */
  readonly route: Route | null;
  /** When it came, by the time of the service: milliseconds since the Unix epoch. */
  readonly time: number;
  /** Of the client; if proxies are trusted, as they say. */
  readonly address: string;
  /** How long the client may read nothing of a streamed response: milliseconds. */
  readonly readMs: number;
}

export type Exchange = ReturnType<typeof createExchange>;

export function createExchange(parts: Parts, journal: Journal) {
  const { request, route, time } = parts;
  const { method = 'GET' } = request;
  // As far as it may be shown: of what is no path or id of the API it may be a key.
  const path = route === null ? '…' : `${BASE}${route.path.replace('{petId}', route.petId ?? '{petId}')}`;
  return {
    ...parts,
    id: randomUUID(),
    method,
    entry: journal.open(time, method, path),
    /** The X-RateLimit headers of the answer; null until the request has been admitted or refused. */
    shown: null as ShownLimit | null,
    /** The key that the request was made with; null until it has been found valid. */
    validKey: null as string | null,
    /** Of an error. */
    code: null as string | null,
    /** The failure, if the answer is a 5xx of this service's own. */
    cause: undefined as unknown,
    /** Whether the client waits for `100 Continue` before it sends the body. One of HTTP/1.0 would take that for the response. */
    awaitsContinue: request.httpVersion === '1.1' && request.headers.expect?.toLowerCase() === '100-continue',
    /** Whether the request is left without an answer on purpose, until one of both sides hangs up. */
    abandoned: false,
  };
}

/** Reports whether nothing can be written any more. A pipelined response does not show it, its socket does. */
export function isCut({ request: { socket }, response }: Exchange): boolean {
  return response.destroyed || socket.destroyed || socket.writableEnded;
}

const MAX_BODY_BYTES = 16 * 1024;

/** The client went away, or was refused by the HTTP parser, before its body was complete: no one is left to answer. */
export class BodyCutOff extends Error {
  override readonly name = 'BodyCutOff';
}

/**
 * Returns the body as text.
 * @throws Refusal 413 if it is larger than MAX_BODY_BYTES, 400 if it is not UTF-8
 * @throws BodyCutOff if it ends early
 */
export async function readBody(exchange: Exchange): Promise<string> {
  const bytes = await collectBody(exchange.request, MAX_BODY_BYTES, () => {
    if (exchange.awaitsContinue) exchange.response.writeContinue();
    exchange.awaitsContinue = false;
  });
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    exchange.entry.body = text.slice(0, CHARACTERS_KEPT);
    return text;
  } catch (error) {
    throw error instanceof TypeError ? new Refusal(400, 'invalid_json', 'The body is not UTF-8.') : error;
  }
}

/**
 * Returns the body of a request. What is over the size is still taken off the connection, but not kept: the client can read its answer.
 * @param begin called before anything is read
 * @throws Refusal 413 if it is larger, BodyCutOff if it ends early
 */
export function collectBody(request: IncomingMessage, maxBytes: number, begin = () => {}): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => reject(new Refusal(413, 'payload_too_large', `The body is larger than ${maxBytes} bytes.`));
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return tooLarge();
    begin();
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) return void chunks.push(chunk);
      request.off('data', take).resume();
      tooLarge();
    };
    request
      .on('data', take)
      .once('end', () => resolve(Buffer.concat(chunks)))
      .once('error', () => reject(new BodyCutOff()))
      .once('close', () => (request.readableEnded ? undefined : reject(new BodyCutOff())));
  });
}
