import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OpenEntry } from '../journal.ts';
import type { ShownLimit } from '../limits/admission.ts';

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
