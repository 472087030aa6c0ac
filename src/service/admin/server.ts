import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { isIP } from 'node:net';
import { FaultSpecError } from '../faults/grammar.ts';
import { listen } from '../http/server.ts';
import { readTls, renewTls, type TlsFiles } from '../http/tls.ts';
import { bearerToken, digestOf } from '../keys/key.ts';
import type { Service } from '../service.ts';
import { StorageError } from '../store/store.ts';
import { BadRequest } from './bodies.ts';
import { type Reply, replyTo } from './routes.ts';

/**
 * True when a Host header names this machine by an address, or as localhost. Any other name may belong to a web site that has
 * it point here, so that a browser takes its pages and this port for one origin (DNS rebinding).
 */
function isLocalName(hostHeader: string | undefined): boolean {
  const name = hostHeader?.replace(/:\d+$/, '').toLowerCase() ?? '';
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

/** What is no secret. @returns null for any other request */
async function probe({ method, url }: IncomingMessage, service: Service): Promise<Reply | null> {
  if (method !== 'GET' && method !== 'HEAD') return null;
  if (url === '/healthz') return { status: 200, body: { status: 'ok' } };
  if (url !== '/readyz') return null;
  if (service.draining) return { status: 503, body: { status: 'draining' } };
  if (await service.isUsable()) return { status: 200, body: { status: 'ok' } };
  return { status: 503, body: { status: 'store_unavailable' } };
}

interface AdminOptions {
  /** Where the service itself is. */
  readonly serviceUrl: string;
  readonly token: string;
  /** For the metrics alone. */
  readonly metricsToken: string | undefined;
  readonly hasTestControls: boolean;
  readonly tls: TlsFiles | undefined;
  /** Whether only this machine reaches it. */
  readonly isLocal: boolean;
}

/**
 * The administration port. Without a token it has two probes for whoever keeps the service running: `GET /healthz` is 200 while the
 * process answers, `GET /readyz` while changes of the stock are committed and it is not about to stop. `GET /metrics` takes a token of
 * its own; without one, none on loopback. `routes.ts` has all else, which takes `Authorization: Bearer <token>`: other programs and
 * users of this machine can reach the port, too.
 */
export class AdminServer {
  readonly #service: Service;
  readonly #options: AdminOptions;
  readonly #server: ReturnType<typeof createServer> | TlsServer;

  /** @throws TlsError */
  constructor(service: Service, options: AdminOptions) {
    this.#service = service;
    this.#options = options;
    const answer = (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response);
    this.#server = options.tls === undefined ? createServer(answer) : createTlsServer(readTls(options.tls), answer);
  }

  listen(port: number, host: string): Promise<number> {
    return listen(this.#server, port, host);
  }

  /** @throws TlsError */
  reloadTls(): void {
    const { tls } = this.#options;
    if (tls !== undefined) renewTls(this.#server, tls);
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body, text } = await this.#reply(request).catch(replyToFailure);
    const common = { 'Content-Type': text?.type ?? 'application/json', 'Cache-Control': 'no-store' };
    const more = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : status === 413 ? { Connection: 'close' } : {};
    response.writeHead(status, { ...common, ...more });
    const content = text?.content ?? JSON.stringify(typeof body === 'string' ? { message: body } : body);
    response.end(request.method === 'HEAD' ? undefined : content);
  }

  #brings({ headers }: IncomingMessage, token: string): boolean {
    const brought = bearerToken(headers.authorization);
    return brought !== null && timingSafeEqual(Buffer.from(digestOf(brought)), Buffer.from(digestOf(token)));
  }

  async #reply(request: IncomingMessage): Promise<Reply> {
    const { token, metricsToken, isLocal, serviceUrl, hasTestControls } = this.#options;
    const service = this.#service;
    const probed = await probe(request, service);
    if (probed !== null) return probed;
    if (isLocal && !isLocalName(request.headers.host)) {
      return { status: 403, body: 'The Host header must name this machine by its address.' };
    }
    const isMetrics =
      request.url?.split('?')[0] === '/metrics' && (request.method === 'GET' || request.method === 'HEAD');
    const isOpen = isMetrics && (metricsToken === undefined ? isLocal : this.#brings(request, metricsToken));
    if (!isOpen && !this.#brings(request, token)) {
      const which = isMetrics ? 'The token of --metrics-token' : 'The administration token';
      return { status: 401, body: `${which} is required: Authorization: Bearer <token>.` };
    }
    if (!isMetrics || service.metrics === null) return replyTo(request, { service, serviceUrl, hasTestControls });
    return { status: 200, text: { type: service.metrics.contentType, content: await service.metrics.text() } };
  }
}

function replyToFailure(error: unknown): Reply {
  if (error instanceof BadRequest) return { status: error.status, body: error.message };
  if (error instanceof StorageError) return { status: 503, body: error.message };
  if (error instanceof FaultSpecError || error instanceof SyntaxError) return { status: 400, body: error.message };
  return { status: 500, body: 'The service failed.' };
}
