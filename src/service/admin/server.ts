import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { isIP } from 'node:net';
import { within } from '../bounded.ts';
import { FaultSpecError } from '../faults/grammar.ts';
import { listen } from '../http/server.ts';
import { readTls, renewTls, type TlsFiles } from '../http/tls.ts';
import { bearerToken, digestOf } from '../keys/key.ts';
import type { Service } from '../service.ts';
import { StorageError } from '../store/store.ts';
import { BadRequest } from './bodies.ts';
import { type Reply, replyTo } from './routes.ts';

/** True for an address of this machine that no other one reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * True when a Host header names this machine by an address, or as localhost. Any other name may belong to a web site that has
 * it point here, so that a browser takes its pages and this port for one origin (DNS rebinding).
 */
function isLocalName(hostHeader: string | undefined): boolean {
  const name = hostHeader?.replace(/:\d+$/, '').toLowerCase() ?? '';
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

/** Answers what keeps the service running asks, without a token. Null for any other request. */
type Probe = (request: IncomingMessage) => Promise<Reply | null>;

/**
 * - `GET /healthz`: 200 while the process answers
 * - `GET /readyz`: 200 while it is of use to clients; 503 when its store does not answer in time, and once it is about to stop
 */
function createProbe(service: Service): Probe {
  let looking: Promise<boolean> | null = null;
  // One look for all who ask meanwhile: no number of them takes the connections from clients.
  const isUsable = () => {
    looking ??= service.store
      .check()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        looking = null;
      });
    return within(looking, false);
  };
  return async ({ method, url }) => {
    if (method !== 'GET' && method !== 'HEAD') return null;
    if (url === '/healthz') return { status: 200, body: { status: 'ok' } };
    if (url !== '/readyz') return null;
    if (service.draining) return { status: 503, body: { status: 'draining' } };
    if (await isUsable()) return { status: 200, body: { status: 'ok' } };
    return { status: 503, body: { status: 'store_unavailable' } };
  };
}

interface AdminOptions {
  /** Where the service itself is. */
  readonly serviceUrl: string;
  readonly token: string;
  readonly tls: TlsFiles | undefined;
  /** Whether only this machine reaches it. */
  readonly isLocal: boolean;
}

/**
 * The administration port: probes for whoever keeps the service running, which need no token, and all else for whoever
 * tests a client or looks after the stock. `routes.ts` and `probes.ts` say what there is.
 *
 * Every other request needs `Authorization: Bearer <token>`: other programs and users of this machine can reach the port, too.
 */
export class AdminServer {
  readonly #service: Service;
  readonly #options: AdminOptions;
  readonly #tokenDigest: string;
  readonly #probe: Probe;
  readonly #server: ReturnType<typeof createServer> | TlsServer;

  /** @throws TlsError */
  constructor(service: Service, options: AdminOptions) {
    this.#service = service;
    this.#options = options;
    this.#tokenDigest = digestOf(options.token);
    this.#probe = createProbe(service);
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

  #isAuthorized({ headers }: IncomingMessage): boolean {
    const token = bearerToken(headers.authorization);
    return token !== null && timingSafeEqual(Buffer.from(digestOf(token)), Buffer.from(this.#tokenDigest));
  }

  async #reply(request: IncomingMessage): Promise<Reply> {
    const probed = await this.#probe(request);
    if (probed !== null) return probed;
    if (this.#options.isLocal && !isLocalName(request.headers.host)) {
      return { status: 403, body: 'The Host header must name this machine by its address.' };
    }
    if (!this.#isAuthorized(request)) {
      return { status: 401, body: 'The administration token is required: Authorization: Bearer <token>.' };
    }
    return replyTo(request, this.#service, this.#options.serviceUrl);
  }
}

function replyToFailure(error: unknown): Reply {
  if (error instanceof BadRequest) return { status: error.status, body: error.message };
  if (error instanceof StorageError) return { status: 503, body: error.message };
  if (error instanceof FaultSpecError || error instanceof SyntaxError) return { status: 400, body: error.message };
  return { status: 500, body: 'The service failed.' };
}
