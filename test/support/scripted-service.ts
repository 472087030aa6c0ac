import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';

export interface SeenRequest {
  /** When the request came, by `performance.now()`. */
  readonly at: number;
  readonly method: string;
  /** The path without `/v1`: `/inventory/7`. */
  readonly path: string;
  readonly body: string;
  readonly key: string;
  /** The status of the response; undefined if none was sent. */
  status: number | undefined;
}

/** A request, with the ways to respond to it. */
export interface Exchange {
  readonly request: SeenRequest;
  /** The change that a PATCH asks for; undefined for other requests. */
  readonly change: { readonly petId: bigint; readonly quantity: number } | undefined;
  /** Resolves once either side has closed the connection. */
  readonly closed: Promise<void>;
  /** Writes the quantity that a PATCH asks for, or another quantity. Does nothing for other requests. */
  commit(quantity?: number): void;
  /** Does what the request asks for, and responds as the specification says. */
  answerNormally(): void;
  answer(status: number, body?: string, headers?: Readonly<Record<string, string>>): void;
  /** Sends the head and half of the body, then resets the connection. */
  breakOff(body: string): void;
  /** Resets the connection. */
  drop(): void;
  /** Sends bytes that need not be HTTP, and closes the connection. */
  raw(text: string): void;
}

/** Handles a request: writes, responds, or neither. */
export type Action = (exchange: Exchange) => void | Promise<void>;

/** A pattern for requests: a method (`PATCH`), or a method and a path (`PATCH /inventory/7`). */
export type Matcher = string;

export type ScriptedService = Awaited<ReturnType<typeof scriptedService>>;

/** A rate limit in fixed windows, like that of the real service. */
interface RateLimitPlan {
  readonly limit: number;
  /** The length of a window in whole seconds. */
  readonly seconds: number;
  /** How many requests are left in the first window; default: `limit`. */
  readonly left?: number;
}

export interface ScriptedOptions {
  /** Quantities by pet id. Default: pets 1 to 3 with 10 units each. */
  readonly stock?: Readonly<Record<string, number>>;
  /** Default: a limit that no test reaches. */
  readonly limit?: RateLimitPlan;
  /** The service's clock, in milliseconds since the Unix epoch; default: the system's clock. */
  readonly now?: (() => number) | undefined;
}

const key = 'psk_scripted0123456789';

/**
 * Starts a service for tests of bad networks and proxies. The test scripts what the service does with each request;
 * without a script, it responds as the specification says. It stops when the test is finished.
 */
export async function scriptedService({ stock = tenEach(3), limit, now }: ScriptedOptions = {}) {
  const quantities = new Map(Object.entries(stock).map(([petId, quantity]) => [BigInt(petId), quantity]));
  const requests: SeenRequest[] = [];
  let script: { readonly matches: (request: SeenRequest) => boolean; readonly take: () => Action | undefined }[] = [];
  const countRequest = rateLimitWindow(limit ?? { limit: 1_000_000, seconds: 60 }, now);

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming);
    requests.push(request);
    const date: Readonly<Record<string, string>> = now === undefined ? {} : { Date: new Date(now()).toUTCString() };
    const headers: Readonly<Record<string, string>> = { ...countRequest(), ...date };
    const exchange = createExchange({ request, response, quantities, headers });
    if (headers['Retry-After'] !== undefined) return exchange.answer(429, errorBody('rate_limited', 429));
    const takeFrom = script.find(({ matches }) => matches(request));
    const action = takeFrom?.take() ?? ((normal: Exchange) => normal.answerNormally());
    await action(exchange);
  };
  const port = await listenOnLoopback((incoming, response) => {
    // The connection broke before the whole request had come.
    handle(incoming, response).catch(() => response.destroy());
  });
  const url = `http://127.0.0.1:${port}/v1`;
  const seen = (matcher: Matcher) => requests.filter(matching(matcher));
  return {
    /** The service also responds below any other path that ends in `/v1`. */
    url,
    port,
    key,
    env: { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key },
    /** All requests so far, oldest first. */
    requests,
    /**
     * Gives each of the next matching requests one of these actions, in order. Later requests follow the rest of the
     * script.
     */
    next: (matcher: Matcher, ...actions: readonly Action[]): void => {
      const left = [...actions];
      const matches = matching(matcher);
      script.push({ matches: (request) => left.length > 0 && matches(request), take: () => left.shift() });
    },
    /**
     * Gives the action to all matching requests that no earlier entry takes.
     * @returns a function that removes the entry from the script
     */
    always: (matcher: Matcher, action: Action) => {
      const entry = { matches: matching(matcher), take: () => action };
      script.push(entry);
      return () => {
        script = script.filter((other) => other !== entry);
      };
    },
    seen,
    /** Resolves once this many matching requests have come, whether or not they have been responded to. */
    untilSeen: (matcher: Matcher, count: number) =>
      until(() => {
        const { length } = seen(matcher);
        if (length < count) throw new Error(`the service has seen ${length} of ${matcher}, not ${count}`);
      }),
    /** Resolves once no request has come for this many milliseconds. */
    untilQuiet: (ms: number) =>
      until(() => {
        const since = performance.now() - (requests.at(-1)?.at ?? 0);
        if (since < ms) throw new Error(`the last request came ${since} ms ago`);
      }),
    stockOf: (petId: number) => quantities.get(BigInt(petId)),
    /** Writes as another user would, without a request. */
    sell: (petId: number, units: number) => {
      quantities.set(BigInt(petId), (quantities.get(BigInt(petId)) ?? 0) - units);
    },
  };
}

/**
 * @returns a function that counts a request and returns the headers of its response, with `Retry-After` if the request
 * exceeds the limit
 */
function rateLimitWindow({ limit, seconds, left = limit }: RateLimitPlan, wall: () => number = Date.now) {
  // The window ends on a full second of the wall clock, since the header has no fractions.
  let end = (Math.ceil(wall() / 1000) + seconds) * 1000;
  let remaining = left;
  return (): Readonly<Record<string, string>> => {
    const now = wall();
    while (now >= end) {
      end += seconds * 1000;
      remaining = limit;
    }
    const isOver = remaining === 0;
    if (!isOver) remaining -= 1;
    const headers = {
      'X-RateLimit-Limit': `${limit}`,
      'X-RateLimit-Remaining': `${remaining}`,
      'X-RateLimit-Reset': `${end / 1000}`,
    };
    return isOver ? { ...headers, 'Retry-After': `${Math.max(1, Math.ceil((end - now) / 1000))}` } : headers;
  };
}

/** Resolves once `look()` no longer throws. It is tried every 10 ms, for up to 30 s. */
export function until(look: () => void): Promise<void> {
  return vi.waitFor(look, { timeout: 30_000, interval: 10 });
}

/** Returns the pets 1 to `count` with 10 units each. */
export function tenEach(count: number): Readonly<Record<string, number>> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index + 1}`, 10]));
}

export function errorBody(code: string, status: number): string {
  return JSON.stringify({ code, message: `scripted: ${code}`, status });
}

function matching(matcher: Matcher): (request: SeenRequest) => boolean {
  const [method, path] = matcher.split(' ');
  return (request) => request.method === method && (path === undefined || request.path === path);
}

async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  const at = performance.now();
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = '', url = '', headers } = incoming;
  const body = Buffer.concat(chunks).toString('utf8');
  const bearer = headers.authorization?.replace('Bearer ', '') ?? '';
  return { at, method, path: url.replace(/^.*\/v1/, ''), body, key: bearer, status: undefined };
}

interface ExchangeParts {
  readonly request: SeenRequest;
  readonly response: ServerResponse;
  readonly quantities: Map<bigint, number>;
  readonly headers: Readonly<Record<string, string>>;
}

function createExchange({ request, response, quantities, headers: limits }: ExchangeParts): Exchange {
  const id = /^\/inventory\/(\d+)$/.exec(request.path)?.[1];
  const change =
    request.method === 'PATCH' && id !== undefined
      ? { petId: BigInt(id), quantity: (JSON.parse(request.body) as { quantity: number }).quantity }
      : undefined;
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  const item = (petId: bigint) =>
    `{"petId":${petId},"quantity":${quantities.get(petId)},"status":"${(quantities.get(petId) ?? 0) > 0 ? 'available' : 'sold'}"}`;
  const head = (status: number, headers: Readonly<Record<string, string>>) => {
    request.status = status;
    response.writeHead(status, { 'Content-Type': 'application/json', ...limits, ...headers });
  };
  const answer: Exchange['answer'] = (status, body = '', headers = {}) => {
    head(status, headers);
    response.end(body);
  };
  const commit = (quantity = change?.quantity ?? 0): void => {
    if (change !== undefined && quantities.has(change.petId)) quantities.set(change.petId, quantity);
  };
  return {
    request,
    change,
    closed,
    commit,
    answer,
    answerNormally: () => {
      if (request.method === 'GET' && request.path === '/inventory') {
        return answer(200, `[${[...quantities.keys()].map(item).join(',')}]`);
      }
      if (change === undefined || !quantities.has(change.petId)) return answer(404, errorBody('not_found', 404));
      commit();
      answer(200, item(change.petId));
    },
    breakOff: (body) => {
      head(200, { 'Content-Length': `${body.length}` });
      response.write(body.slice(0, body.length / 2), () => response.socket?.resetAndDestroy());
    },
    drop: () => {
      response.socket?.resetAndDestroy();
    },
    raw: (text) => {
      response.socket?.end(text);
    },
  };
}

/**
 * Listens on 127.0.0.1 and, if the machine has it, on ::1, at the same port.
 * @returns the port
 */
async function listenOnLoopback(handler: RequestListener): Promise<number> {
  const server = await listen(createServer(handler), 0, '127.0.0.1');
  const { port } = server.address() as AddressInfo;
  await listen(createServer(handler), port, '::1').catch(() => undefined);
  return port;
}

function listen(server: Server, port: number, host: string): Promise<Server> {
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

/** Responds as the specification says. */
export const normally: Action = (exchange) => exchange.answerNormally();

/** Writes, then resets the connection without a response. */
export const commitThenDrop: Action = (exchange) => {
  exchange.commit();
  exchange.drop();
};

/** Resets the connection without writing. */
export const drop: Action = (exchange) => exchange.drop();

/** Neither writes nor responds. */
export const hang: Action = () => {};

/** Writes, but sends no response. */
export const commitThenHang: Action = (exchange) => exchange.commit();

/** Responds without writing. */
export function answers(
  status: number,
  headers?: Readonly<Record<string, string>>,
  body = errorBody('scripted', status),
): Action {
  return (exchange) => exchange.answer(status, status === 204 ? '' : body, headers);
}

/** Writes, but responds with another status. */
export function commitThenAnswer(status: number, headers?: Readonly<Record<string, string>>): Action {
  return (exchange) => {
    exchange.commit();
    answers(status, headers)(exchange);
  };
}

/** Stores another quantity than the requested one, and responds with the stored quantity. */
export function storeInstead(quantity: number): Action {
  return (exchange) => {
    exchange.commit(quantity);
    exchange.answer(200, `{"petId":${exchange.change?.petId},"quantity":${quantity},"status":"available"}`);
  };
}

/** Writes, but responds with the id of another pet. */
export function answerForPet(petId: number): Action {
  return (exchange) => {
    exchange.commit();
    exchange.answer(200, `{"petId":${petId},"quantity":${exchange.change?.quantity},"status":"available"}`);
  };
}

/** Writes, and sends only half of the response. */
export const commitThenBreakOff: Action = (exchange) => {
  exchange.commit();
  exchange.breakOff(`{"petId":${exchange.change?.petId},"quantity":${exchange.change?.quantity},"status":"available"}`);
};

/** Does something after the action, such as selling a pet. */
export function andThen(action: Action, after: () => void): Action {
  return async (exchange) => {
    await action(exchange);
    after();
  };
}

/** Holds a request until the test calls `release()`. `reached` resolves once the request has come. */
export function hold(action: Action = normally) {
  let release = (): void => {};
  let reach = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const held: Action = async (exchange) => {
    reach();
    await released;
    await action(exchange);
  };
  return { action: held, reached, release };
}

/** Responds to each request after this many milliseconds, so that requests of several processes overlap. */
export function slowly(ms: number): Action {
  return (exchange) =>
    new Promise((resolve) => {
      setTimeout(() => {
        exchange.answerNormally();
        resolve();
      }, ms);
    });
}
