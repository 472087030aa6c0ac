import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FaultSet, Harm } from '../faults.ts';
import type { addressBuckets, ShownLimit } from '../limits/admission.ts';
import type { Quota } from '../limits/quota.ts';
import type { Shop } from '../operations.ts';
import type { Target } from '../routes.ts';
import { type Answer, Refusal } from './answer.ts';
import type { Cors } from './cors.ts';

/** What the handling of a request needs. */
export interface Service {
  readonly isKey: (token: string) => boolean;
  readonly clock: { now(): number };
  readonly shop: Shop;
  readonly quota: Quota;
  readonly addresses: ReturnType<typeof addressBuckets>;
  readonly faults: FaultSet;
  readonly cors: Cors;
  readonly journal: Journal;
  /** Returns the headers that every response to a request has, whatever its status. */
  headersOf(exchange: Exchange): Record<string, string>;
}

/** One request and its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly target: Target;
  readonly entry: OpenEntry;
  /** The limit in the X-RateLimit headers; undefined, and then that of the address, until the request was admitted. */
  shown: ShownLimit | undefined;
  /** Whether a fault withholds the response, so that the request stays pending until one side disconnects. */
  isAbandoned: boolean;
}

export function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? '';
}

const MAX_BODY_BYTES = 16 * 1024;

/** Thrown if the client disconnected before its body was complete. No response is sent then. */
export class BodyCutOff extends Error {
  override readonly name = 'BodyCutOff';
}

/**
 * Returns the JSON text of a body.
 * @throws Refusal 415 unless it is `application/json`, not compressed; 413 if it is larger than 16 KiB; 400 if it is not
 * UTF-8. BodyCutOff if it ends early
 */
export async function readJsonBody({ request, entry }: Exchange): Promise<string> {
  requireJson(request);
  const bytes = await readBytes(request);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    entry.body = text;
    return text;
  } catch {
    throw new Refusal(400, 'invalid_json', 'The body is not UTF-8.');
  }
}

function requireJson({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw unsupported('The body must be application/json.', { 'Accept-Patch': 'application/json' });
  }
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity') {
    throw unsupported('The body must not be compressed.', { 'Accept-Encoding': 'identity' });
  }
}

function unsupported(message: string, headers: Readonly<Record<string, string>>): Refusal {
  return new Refusal(415, 'unsupported_media_type', message, headers);
}

/** The rest of a body that is too large is read but not kept, so that the client can receive the response. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request
      .on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= MAX_BODY_BYTES) chunks.push(chunk);
        else reject(new Refusal(413, 'payload_too_large', `The body is larger than ${MAX_BODY_BYTES} bytes.`));
      })
      .once('end', () => resolve(Buffer.concat(chunks)))
      .once('error', () => reject(new BodyCutOff()))
      .once('close', () => request.readableEnded || reject(new BodyCutOff()));
  });
}

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

export interface JournalEntry {
  /** When the request arrived, by the service's clock: milliseconds since the Unix epoch. */
  readonly time: number;
  readonly method: string;
  /** See `loggablePath`. */
  readonly path: string;
  /** The body; null if none was read completely, or if it was not UTF-8. */
  readonly body: string | null;
  /** The status that was sent; null while the request is pending, and if no response was sent. */
  readonly status: number | null;
}

const KEPT = 10_000;

export interface OpenEntry {
  body: string | null;
  status: number | null;
}

/** The latest 10,000 requests to one service, oldest first. */
export class Journal {
  readonly #entries: (JournalEntry & OpenEntry)[] = [];

  /** @param isKept whether requests are recorded */
  constructor(private readonly isKept: boolean) {}

  open(request: () => Pick<JournalEntry, 'time' | 'method' | 'path'>): OpenEntry {
    if (!this.isKept) return { body: null, status: null };
    const entry = { ...request(), body: null, status: null };
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * KEPT) this.#entries.splice(0, this.#entries.length - KEPT);
    return entry;
  }

  entries(): readonly JournalEntry[] {
    return this.#entries.slice(-KEPT).map((entry) => ({ ...entry }));
  }
}
