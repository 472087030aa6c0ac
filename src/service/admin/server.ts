import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { isIP } from 'node:net';
import { FaultSpecError } from '../faults/grammar.ts';
import { malformed, Refusal } from '../http/answer.ts';
import { type Tell, throttled } from '../http/log.ts';
import { listen } from '../http/server.ts';
import { readTls, renewTls, type TlsFiles } from '../http/tls.ts';
import { bearerToken, digestOf } from '../keys/key.ts';
import type { Service } from '../service.ts';
import { StorageError } from '../storage/storage.ts';
import { type Access, findRoute, type Reply } from './routes.ts';

/**
 * Reports whether a Host header is `localhost` or any IP address. Any other name may belong to a web site that resolves
 * to this machine. A browser then treats its pages and this port as one origin (DNS rebinding).
 */
function isLocalName(hostHeader: string | undefined): boolean {
  const name = hostHeader?.replace(/:\d+$/, '').toLowerCase() ?? '';
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

interface AdminOptions {
  readonly serviceUrl: string;
  readonly token: string;
  readonly metricsToken: string | undefined;
  readonly hasTestControls: boolean;
  readonly tls: TlsFiles | undefined;
  /** Whether only this machine can reach the port. */
  readonly isLocal: boolean;
}

/**
 * The administration port. Two probes need no token: `GET /healthz` returns 200 while the process responds; `GET
 * /readyz` returns 200 while stock changes can be committed and the service is not about to stop, but never with test
 * controls. Everything else (see `routes.ts`) requires `Authorization: Bearer <token>`, because other programs and
 * users of this machine can reach the port, too. `GET /metrics` also accepts a token of its own; if there is none, it
 * needs no token on loopback.
 */
export class AdminServer {
  readonly #server: ReturnType<typeof createServer> | TlsServer;
  readonly #tellRefused: Tell;

  /** @throws TlsError if the certificate can't be used */
  constructor(
    private readonly service: Service,
    private readonly options: AdminOptions,
  ) {
    this.#tellRefused = throttled(service.tell, service.clock);
    const answer = (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response);
    this.#server = options.tls === undefined ? createServer(answer) : createTlsServer(readTls(options.tls), answer);
  }

  listen(port: number, host: string): Promise<number> {
    return listen(this.#server, port, host);
  }

  /** @throws TlsError if the certificate can't be used; then the previous one stays in use */
  reloadTls(): void {
    const { tls } = this.options;
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

  async #reply(request: IncomingMessage): Promise<Reply> {
    const { host = [], authorization = [] } = request.headersDistinct;
    // If a header occurs twice, a proxy may have checked the other value.
    if (host.length > 1 || authorization.length > 1)
      throw malformed('There is more than one Host or Authorization header.');
    const { access, action, target, reply } = findRoute(request);
    const address = request.socket.remoteAddress ?? null;
    if (access !== 'open') {
      if (this.options.isLocal && !isLocalName(request.headers.host)) {
        return { status: 403, body: 'The Host header must be localhost or an IP address.' };
      }
      if (!this.#isAllowed(request, access)) {
        this.#tellRefused('warning', 'An administration request without a valid token was refused', { address });
        const hasOwnToken = access === 'metrics' && this.options.metricsToken !== undefined;
        const which = hasOwnToken ? 'The token of --metrics-token' : 'The administration token';
        return { status: 401, body: `${which} is missing or wrong. Send it as Authorization: Bearer <token>.` };
      }
    }
    const answered = await reply({ service: this.service, ...this.options }).catch(replyToFailure);
    const { status } = answered;
    if (action !== undefined) this.service.tell('info', 'Administration', { action, target, address, status });
    return answered;
  }

  #isAllowed({ headers }: IncomingMessage, access: Access): boolean {
    const { token, metricsToken, isLocal } = this.options;
    if (access === 'metrics' && metricsToken === undefined && isLocal) return true;
    const brought = bearerToken(headers.authorization);
    const allowed = access === 'metrics' && metricsToken !== undefined ? [token, metricsToken] : [token];
    return brought !== null && allowed.some((one) => isSame(one, brought));
  }
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(digestOf(one)), Buffer.from(digestOf(other)));
}

function replyToFailure(error: unknown): Reply {
  if (error instanceof Refusal) return { status: error.status, body: error.message };
  if (error instanceof StorageError) return { status: 503, body: error.message };
  if (error instanceof FaultSpecError || error instanceof SyntaxError) return { status: 400, body: error.message };
  return { status: 500, body: 'The service failed.' };
}
