import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { FaultSpecError } from '../faults/fault-clause.ts';
import { listen } from '../http/server.ts';
import { bearerToken } from '../keys/bearer.ts';
import { digestOf } from '../keys/key.ts';
import { openApiDocument } from '../openapi/document.ts';
import { examplePet } from '../openapi/example-pet.ts';
import type { Service } from '../service.ts';
import { isLocalName } from './host.ts';
import { BadRequest, readJson } from './read-json.ts';

type Reply = readonly [status: number, body: unknown];

/**
 * The administration port, for those who test a client:
 *
 * - `GET /health`: `{"status":"ok"}`
 * - `GET /openapi.json`: the contract of the service
 * - `GET /journal`: the requests seen, oldest first
 * - `GET /faults`, `POST /faults` with `{"faults":["<spec>",…]}` to add some, `DELETE /faults`
 * - `POST /clock` with `{"advanceSeconds":<n>}` to move the service's clock ahead
 *
 * Every request needs `Authorization: Bearer <token>`: other programs and users of this machine can reach the port, too.
 */
export class AdminServer {
  readonly #service: Service;
  readonly #baseUrl: string;
  readonly #tokenDigest: string;
  readonly #server: Server;

  /** @param baseUrl where the service itself is */
  constructor(service: Service, baseUrl: string, token: string) {
    this.#service = service;
    this.#baseUrl = baseUrl;
    this.#tokenDigest = digestOf(token);
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  listen(port: number, host: string): Promise<number> {
    return listen(this.#server, port, host);
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [status, body] = await this.#reply(request).catch(refusalOf);
    const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
    const more = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : status === 413 ? { Connection: 'close' } : {};
    response.writeHead(status, { ...headers, ...more });
    response.end(JSON.stringify(typeof body === 'string' ? { message: body } : body));
  }

  #isAuthorized({ headers }: IncomingMessage): boolean {
    const token = bearerToken(headers.authorization);
    return token !== null && timingSafeEqual(Buffer.from(digestOf(token)), Buffer.from(this.#tokenDigest));
  }

  async #reply(request: IncomingMessage): Promise<Reply> {
    if (!isLocalName(request.headers.host)) return [403, 'The Host header must name this machine by its address.'];
    if (!this.#isAuthorized(request))
      return [401, 'The administration token is required: Authorization: Bearer <token>.'];
    const { store } = this.#service;
    const { faults } = store;
    switch (`${request.method} ${request.url}`) {
      case 'GET /health':
        return [200, { status: 'ok' }];
      case 'GET /openapi.json':
        return [200, openApiDocument(this.#baseUrl, await examplePet(store))];
      case 'GET /journal':
        return [200, await store.journal.all()];
      case 'GET /faults':
        return [200, { faults: await faults.specs() }];
      case 'DELETE /faults':
        await faults.replace([]);
        return [200, { faults: await faults.specs() }];
      case 'POST /faults':
        await faults.add(specsOf(await readJson(request)));
        return [200, { faults: await faults.specs() }];
      case 'POST /clock':
        await store.advance(secondsOf(await readJson(request)) * 1000);
        return [200, { now: new Date(store.now()).toISOString() }];
      default:
        return [404, 'There is nothing at this address.'];
    }
  }
}

function specsOf(body: unknown): string[] {
  const specs = fieldOf(body, 'faults');
  if (Array.isArray(specs) && specs.every((spec) => typeof spec === 'string')) return specs;
  throw new BadRequest('The body must be {"faults":["<spec>",…]}.');
}

function secondsOf(body: unknown): number {
  const seconds = fieldOf(body, 'advanceSeconds');
  if (typeof seconds === 'number' && seconds >= 0 && seconds <= 1e10) return seconds;
  throw new BadRequest('The body must be {"advanceSeconds":<n>}, n not negative.');
}

function fieldOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null
    ? Object.entries(body).find(([key]) => key === name)?.[1]
    : undefined;
}

function refusalOf(error: unknown): Reply {
  if (error instanceof BadRequest) return [error.status, error.message];
  const isOurs = error instanceof FaultSpecError || error instanceof SyntaxError;
  return [400, isOurs ? error.message : 'The request could not be read.'];
}
