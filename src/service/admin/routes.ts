import type { IncomingMessage } from 'node:http';
import { DAY_MS, windowAt } from '../limits/admission.ts';
import { examplePet, openApiDocument } from '../openapi/document.ts';
import { seededStock } from '../seed/stock.ts';
import type { Service } from '../service.ts';
import type { KeyRecord } from '../storage/storage.ts';
import { petIdOf, readAdvance, readBan, readFaults, readPet, readSeed, readUsage, refused } from './bodies.ts';

/** A response with `body` as JSON, or with `text` as it is. A body that is a string is sent as `{"message"}`. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly text?: { readonly type: string; readonly content: string };
}

interface Call {
  readonly service: Service;
  readonly serviceUrl: string;
  readonly hasTestControls: boolean;
  readonly request: IncomingMessage;
  /** The segment of the path that matches `*`. */
  readonly parameter: string;
}

type Routes = Readonly<Record<string, (call: Call) => Promise<Reply>>>;

/** The latest time of the clock. The year in a `Date` header has four digits. */
const LAST_DATE = Date.UTC(9999, 11, 31);

/** Routes without secrets, for monitoring. */
const PROBES: Routes = {
  'GET /healthz': async () => ok({ status: 'ok' }),
  'GET /readyz': async ({ service, hasTestControls }) => {
    if (hasTestControls) return { status: 404, body: 'A service with --test-controls is for tests and never ready.' };
    if (service.draining) return { status: 503, body: { status: 'draining' } };
    return (await service.isUsable()) ? ok({ status: 'ok' }) : { status: 503, body: { status: 'store_unavailable' } };
  },
};

const METRICS: Routes = {
  'GET /metrics': async ({ service: { metrics } }) => ({
    status: 200,
    text: { type: metrics?.contentType ?? '', content: (await metrics?.text()) ?? '' },
  }),
};

/** Routes of the administration port that require its token, by method and path; `*` matches any one segment. */
const ADMINISTRATION: Routes = {
  'GET /health': async () => ok({ status: 'ok' }),
  'GET /openapi.json': async ({ service, serviceUrl }) =>
    ok(openApiDocument(serviceUrl, await examplePet(service.storage))),
  'GET /keys': async ({ service }) => ok((await service.storage.keys()).map((record) => shown(record, service))),
  'PUT /keys/*/usage': async ({ service, request, parameter }) => {
    const record = await service.controls.setUsage(parameter, await readUsage(request), service.rules.minuteMs);
    return record === null ? noKey(parameter) : ok(shown(record, service));
  },
  'PUT /keys/*/ban': async ({ service, request, parameter }) => changeBan(service, parameter, await readBan(request)),
  'DELETE /keys/*/ban': ({ service, parameter }) => changeBan(service, parameter, null),
  'PUT /inventory/*': async ({ service, request, parameter }) => {
    const put = await service.controls.setPet(petIdOf(parameter), await readPet(request));
    if (put === null) throw refused('A new pet needs a quantity.');
    service.metrics?.stockChanged('put');
    const { petId, quantity, status } = put.item;
    const content = `{"petId":${petId},"quantity":${quantity},"status":${JSON.stringify(status)}}`;
    return { status: put.isNew ? 201 : 200, text: { type: 'application/json', content } };
  },
  'DELETE /inventory/*': async ({ service, parameter }) => {
    const petId = petIdOf(parameter);
    if (!(await service.controls.removePet(petId))) return { status: 404, body: `There is no pet ${petId}.` };
    service.metrics?.stockChanged('remove');
    return ok({ removed: true });
  },
  'POST /reset': async ({ service, request }) => {
    const seed = await readSeed(request);
    const isSeed = Object.values(seed).some((value) => value !== undefined);
    await service.controls.reset(isSeed ? seededStock(seed) : undefined);
    service.metrics?.stockChanged('reset');
    return ok({ reset: true });
  },
};

/** Routes for tests of clients; 404 without `--test-controls`. */
const TEST_CONTROLS: Routes = {
  'GET /journal': async ({ service }) => ok(service.journal.entries()),
  'GET /faults': async ({ service }) => faultsOf(service),
  'POST /faults': async ({ service, request }) => {
    service.faults.add(await readFaults(request));
    return faultsOf(service);
  },
  'DELETE /faults': async ({ service }) => {
    service.faults.replace([]);
    return faultsOf(service);
  },
  'POST /clock': async ({ service: { storage }, request }) => {
    const milliseconds = (await readAdvance(request)) * 1000;
    if (storage.now() + milliseconds > LAST_DATE) throw refused("The clock can't be moved beyond the year 9999.");
    await storage.advance(milliseconds);
    return ok({ now: new Date(storage.now()).toISOString() });
  },
};

/** `open` needs no token, `token` needs the token of the port; for `metrics` see `AdminServer`. */
export type Access = 'open' | 'metrics' | 'token';

interface Found {
  readonly access: Access;
  /** The route with its method, for the log; undefined for requests that change nothing, and for unknown paths. */
  readonly action?: string;
  /**
   * The id of the pet or key in the path; null if there is none. Any text that is not an id is left out, because it may
   * be a misplaced secret.
   */
  readonly target: string | null;
  /**
   * Carries out the request.
   * @throws Refusal, SyntaxError, BodyCutOff, FaultSpecError, StorageError
   */
  reply(options: Pick<Call, 'service' | 'serviceUrl' | 'hasTestControls'>): Promise<Reply>;
}

const ROUTES: readonly (readonly [Access, Routes])[] = [
  ['open', PROBES],
  ['metrics', METRICS],
  ['token', ADMINISTRATION],
  ['token', TEST_CONTROLS],
];

export function findRoute(request: IncomingMessage): Found {
  const segments = (request.url ?? '').split('?')[0]?.split('/') ?? [];
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  for (const [access, routes] of ROUTES) {
    for (const [route, reply] of Object.entries(routes)) {
      const [wanted, path = ''] = route.split(' ');
      const parts = path.split('/');
      const isMatch = parts.every((part, at) => part === '*' || part === segments[at]);
      if (wanted !== method || parts.length !== segments.length || !isMatch) continue;
      const parameter = segments[parts.indexOf('*')] ?? '';
      return {
        access,
        ...(method !== 'GET' && { action: route }),
        target: /^(-?\d{1,19}|[\da-f]{12})$/.test(parameter) ? parameter : null,
        reply: async (options) => {
          if (routes !== TEST_CONTROLS || options.hasTestControls) return reply({ ...options, request, parameter });
          return { status: 404, body: 'This address needs a service that was started with --test-controls.' };
        },
      };
    }
  }
  return {
    access: 'token',
    target: null,
    reply: async () => ({ status: 404, body: 'There is nothing at this address.' }),
  };
}

function ok(body: unknown): Reply {
  return { status: 200, body };
}

function noKey(id: string): Reply {
  return { status: 404, body: `There is no key ${id.slice(0, 40)}.` };
}

function faultsOf({ faults }: Service): Reply {
  return ok({ faults: faults.specs });
}

/** Bans a key, or lifts its ban if `seconds` is null. */
async function changeBan(service: Service, id: string, seconds: number | null): Promise<Reply> {
  if (service.rules.ban === null && seconds !== null) {
    throw refused("This service was started with --no-ban, so keys can't be banned.");
  }
  const record = await service.controls.ban(id, seconds);
  return record === null ? noKey(id) : ok(shown(record, service));
}

/** Returns a key with its usage in the current windows. */
function shown({ id, name, plan, limits, createdAt, revokedAt, usage }: KeyRecord, { storage, rules }: Service) {
  const now = storage.now();
  const of = (window: 'minute' | 'day', length: number) => ({
    limit: Number(limits[window]),
    used: Number(windowAt(usage[window], now, length).used),
  });
  const { bannedUntil } = usage.conduct;
  return {
    id,
    name,
    plan,
    minute: of('minute', rules.minuteMs),
    day: of('day', DAY_MS),
    createdAt: dateOf(createdAt),
    revokedAt: dateOf(revokedAt),
    bannedUntil: dateOf(bannedUntil !== null && bannedUntil > now ? bannedUntil : null),
  };
}

function dateOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
