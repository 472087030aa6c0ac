import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { onTestFinished, test as plain } from 'vitest';
import { type ServiceOptions, startService } from '../../src/service/index.ts';
import { newFolder } from '../support/new-folder.ts';

/** Noon, the start of a minute. */
export const NOON = Date.UTC(2026, 2, 10, 12);

/** A clock that stands still until the test moves it. */
export class TestClock {
  constructor(private time = NOON) {}

  now(): number {
    return this.time;
  }

  advance(milliseconds: number): void {
    this.time += milliseconds;
  }

  set(now: number): void {
    this.time = now;
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; numbers beyond 2^53 are wrong in it. */
  readonly json: unknown;
}

interface CallOptions {
  /** Null: no Authorization header. Undefined: the service's key. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export type TestService = Awaited<ReturnType<typeof start>>;

type Options = Partial<Omit<ServiceOptions, 'clock'>>;

/** Starts a service, by default in memory. It is closed when the test is finished. */
export async function start({ clock = new TestClock(), ...options }: Options & { readonly clock?: TestClock } = {}) {
  const service = await startService({ recordsRequests: true, ...options, clock });
  onTestFinished(() => service.close());
  return { ...service, clock, ...clientOf(service) };
}

interface Served {
  readonly url: string;
  readonly key: string;
}

/** Returns functions that send requests to a service. */
export function clientOf({ url, key }: Served) {
  const call = (method: string, path: string, given?: CallOptions) => send({ url, key }, method, `/v1${path}`, given);
  return {
    call,
    get: (path: string, given?: CallOptions) => call('GET', path, given),
    patch: (path: string, body: string | Uint8Array, given?: CallOptions) =>
      call('PATCH', path, { ...given, body, headers: { ...JSON_TYPE, ...given?.headers } }),
  };
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** A test with a service that `start()` starts, and the path of a file that does not exist yet. */
export const test = plain.extend('service', () => start()).extend('file', () => temporaryFile());

/** Returns a path in a new folder, which is removed when the test is finished. */
export function temporaryFile(name = 'sandbox.db'): string {
  return join(newFolder(), name);
}

function send(
  { url, key: ownKey }: Served,
  method: string,
  path: string,
  { key = ownKey, headers, body }: CallOptions = {},
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const sent = { ...(key === null ? {} : { Authorization: `Bearer ${key}` }), ...headers };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, method, path, headers: sent, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('error', reject)
        .on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
        });
    });
    request.on('error', reject).end(body);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the X-RateLimit headers as `limit/remaining/reset`. */
export function rate({ headers }: Answer): string {
  return ['limit', 'remaining', 'reset'].map((name) => headers[`x-ratelimit-${name}`]).join('/');
}

/** Returns the status, followed by the code of an error: `404 pet_not_found`. */
export function outcome({ status, text }: Pick<Answer, 'status' | 'text'>): string {
  const code = status < 400 ? undefined : /"code":"(\w+)"/.exec(text)?.[1];
  return code === undefined ? `${status}` : `${status} ${code}`;
}

/** Sends `count` requests one after another and returns the outcome of each. */
export async function outcomes(service: TestService, count: number): Promise<string[]> {
  const seen: string[] = [];
  for (let sent = 0; sent < count; sent++) seen.push(outcome(await service.get('/inventory')));
  return seen;
}
