import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CHARACTERS_KEPT, type Journal } from '../journal.ts';
import type { ShownLimit } from '../limits/admission.ts';
import { Refusal } from './answer.ts';

const BASE = '/v1';

/** Matches a target without an origin, query or encoded character; nearly all are like that. */
const PLAIN = /^\/v1\/[\w/-]*$/;

interface RequestTarget {
  /**
   * The path relative to the base URL, as it was sent, without the query: `/inventory/5`. The whole path if it is
   * outside the base URL.
   */
  readonly path: string;
  /** The segments of the path, decoded unless its percent-encoding is malformed; null if it is outside the base URL. */
  readonly segments: readonly string[] | null;
  readonly malformed: boolean;
}

/** Parses a request target: `/v1/inventory?x`, or the absolute form for proxies, `http://host/v1/inventory`. */
export function parseTarget(requestTarget: string): RequestTarget {
  if (PLAIN.test(requestTarget)) {
    const path = requestTarget.slice(BASE.length);
    return { path, segments: path.slice(1).split('/'), malformed: false };
  }
  const whole = requestTarget.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
  const path = whole.startsWith(`${BASE}/`) ? whole.slice(BASE.length) : null;
  if (path === null) return { path: whole, segments: null, malformed: decoded(whole) === null };
  const segments = decoded(path.slice(1));
  // Even undecoded segments lead to the route, and its headers belong in every response.
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
  /** The path with the names of its parameters: `/inventory/{petId}`. */
  readonly path: string;
  /** The pet id in the path if it is valid; any other text may be a misplaced key. */
  readonly petId: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

interface Parts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: RequestTarget;
  /** Null if the API has no such path. */
  readonly route: Route | null;
  /** When the request arrived, by the service's clock: milliseconds since the Unix epoch. */
  readonly time: number;
  /** The client's address; if proxies are trusted, the address that they report. */
  readonly address: string;
  /** How long the client may stop reading a streamed response, in milliseconds. */
  readonly readMs: number;
}

export type Exchange = ReturnType<typeof createExchange>;

export function createExchange(parts: Parts, journal: Journal) {
  const { request, route, time } = parts;
  const { method = 'GET' } = request;
  // Contains only the parts that may be shown. Text that is not a path or an id of the API may be a key.
  const path = route === null ? '…' : `${BASE}${route.path.replace('{petId}', route.petId ?? '{petId}')}`;
  return {
    ...parts,
    id: randomUUID(),
    method,
    entry: journal.open(time, method, path),
    /** The X-RateLimit headers of the response; null until the request was admitted or refused. */
    shown: null as ShownLimit | null,
    /** The key of the request; null until it is known to be valid. */
    validKey: null as string | null,
    /** The code of an error response; null if the operation or a fault has made the response. */
    code: null as string | null,
    /** The error that made this service fail; undefined if it has not failed. */
    cause: undefined as unknown,
    /**
     * Whether the client waits for `100 Continue` before it sends the body. A client of HTTP/1.0 would mistake that for
     * the response.
     */
    awaitsContinue: request.httpVersion === '1.1' && request.headers.expect?.toLowerCase() === '100-continue',
    /** Whether a fault withholds the response, so that the request stays pending until one side disconnects. */
    abandoned: false,
  };
}

/** Reports whether the connection is closed for writing. A pipelined response does not show that; its socket does. */
export function isCut({ request: { socket }, response }: Exchange): boolean {
  return response.destroyed || socket.destroyed || socket.writableEnded;
}

const MAX_BODY_BYTES = 16 * 1024;

/**
 * Thrown if the client disconnected before its body was complete, or the HTTP parser refused the body. The handler
 * sends no response then.
 */
export class BodyCutOff extends Error {
  override readonly name = 'BodyCutOff';
}

/**
 * Returns the body as text.
 * @throws Refusal 413 if it is larger than MAX_BODY_BYTES, 400 if it is not UTF-8
 * @throws BodyCutOff if the body ends early
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
 * Returns the body of a request. A body is not read if its announced length is too large. If an unannounced body turns
 * out to be too large, its rest is read but not kept, so that the client can receive the response.
 * @param begin called before reading starts
 * @throws Refusal 413 if the body is too large, BodyCutOff if the body ends early
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
