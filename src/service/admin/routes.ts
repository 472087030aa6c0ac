import type { IncomingMessage } from 'node:http';
import { DAY_MS, windowAt } from '../limits/window.ts';
import { examplePet, openApiDocument } from '../openapi/document.ts';
import { seededStock } from '../seed/stock.ts';
import type { Service } from '../service.ts';
import type { KeyRecord } from '../store/store.ts';
import {
  BadRequest,
  banOf,
  notAPet,
  petChangeOf,
  petIdOf,
  readJson,
  secondsOf,
  seedOf,
  specsOf,
  usageOf,
} from './bodies.ts';

/** What a request is answered with: a body as JSON, or a text of another type. A string is a message. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly text?: { readonly type: string; readonly content: string };
}

interface Call {
  readonly service: Service;
  readonly serviceUrl: string;
  readonly request: IncomingMessage;
  /** What stands in the path for `*`. */
  readonly parameter: string;
}

/** The `Date` of an answer has four digits for the year. */
const LAST_DATE = Date.UTC(9999, 11, 31);

/** What the administration port does, by method and path; `*` is any one segment. */
const ROUTES: Readonly<Record<string, (call: Call) => Promise<Reply>>> = {
  'GET /health': async () => ok({ status: 'ok' }),
  'GET /openapi.json': async ({ service, serviceUrl }) =>
    ok(openApiDocument(serviceUrl, await examplePet(service.store))),
  'GET /keys': async ({ service }) => ok((await service.store.keys()).map((record) => shown(record, service))),
  'PUT /keys/*/usage': async ({ service, request, parameter }) => {
    const record = await service.controls.setUsage(parameter, usageOf(await readJson(request)), service.rules.minuteMs);
    return record === null ? noKey(parameter) : ok(shown(record, service));
  },
  'PUT /keys/*/ban': async ({ service, request, parameter }) =>
    changeBan(service, parameter, banOf(await readJson(request))),
  'DELETE /keys/*/ban': ({ service, parameter }) => changeBan(service, parameter, null),
  'PUT /inventory/*': async ({ service, request, parameter }) => {
    const put = await service.controls.setPet(petIdOf(parameter), await petChangeOf(request));
    if (put === null) throw notAPet();
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
    const seed = seedOf(await readJson(request));
    await service.controls.reset(Object.keys(seed).length === 0 ? undefined : seededStock(seed));
    service.metrics?.stockChanged('reset');
    return ok({ reset: true });
  },
};

/** For those who test clients; a service that others rely on has none of it. */
const TEST_CONTROLS: typeof ROUTES = {
  'GET /journal': async ({ service }) => ok(service.journal.entries()),
  'GET /faults': async ({ service }) => faultsOf(service),
  'POST /faults': async ({ service, request }) => {
    service.faults.add(specsOf(await readJson(request)));
    return faultsOf(service);
  },
  'DELETE /faults': async ({ service }) => {
    service.faults.replace([]);
    return faultsOf(service);
  },
  'POST /clock': async ({ service: { store }, request }) => {
    const milliseconds = secondsOf(await readJson(request)) * 1000;
    if (store.now() + milliseconds > LAST_DATE) throw new BadRequest('The clock can not go beyond the year 9999.');
    await store.advance(milliseconds);
    return ok({ now: new Date(store.now()).toISOString() });
  },
};

/** Responds to what the port is there for. @throws BadRequest, SyntaxError, FaultSpecError, StorageError */
export async function replyTo(
  request: IncomingMessage,
  {
    service,
    serviceUrl,
    hasTestControls,
  }: Pick<Call, 'service' | 'serviceUrl'> & { readonly hasTestControls: boolean },
): Promise<Reply> {
  const segments = (request.url ?? '').split('?')[0]?.split('/') ?? [];
  const find = (routes: typeof ROUTES) =>
    Object.entries(routes).find(([route]) => {
      const [method, path = ''] = route.split(' ');
      const wanted = path.split('/');
      return (
        (request.method === method || (request.method === 'HEAD' && method === 'GET')) &&
        wanted.length === segments.length &&
        wanted.every((segment, at) => segment === '*' || segment === segments[at])
      );
    });
  const [route, reply] = find(ROUTES) ?? find(TEST_CONTROLS) ?? [];
  if (route === undefined || reply === undefined) return { status: 404, body: 'There is nothing at this address.' };
  if (route in TEST_CONTROLS && !hasTestControls)
    return { status: 404, body: 'Start the service with --test-controls.' };
  const at = route.split(' ')[1]?.split('/').indexOf('*') ?? -1;
  return reply({ service, serviceUrl, request, parameter: segments[at] ?? '' });
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

/** @param seconds null: the ban ends, and its strikes are forgotten */
async function changeBan(service: Service, id: string, seconds: number | null): Promise<Reply> {
  if (service.rules.ban === null && seconds !== null) {
    throw new BadRequest('This service was started with --no-ban, so that no key can be banned.');
  }
  const record = await service.controls.ban(id, seconds);
  return record === null ? noKey(id) : ok(shown(record, service));
}

/** A key with what it has used of the windows that last now. */
function shown({ id, plan, limits, createdAt, revokedAt, usage }: KeyRecord, { store, rules }: Service) {
  const now = store.now();
  const of = (window: 'minute' | 'day', length: number) => ({
    limit: Number(limits[window]),
    used: Number(windowAt(usage[window], now, length).used),
  });
  const { bannedUntil } = usage.conduct;
  return {
    id,
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
