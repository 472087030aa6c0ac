import type { IncomingMessage } from 'node:http';
import { DAY_MS, windowAt } from '../limits/window.ts';
import { examplePet, openApiDocument } from '../openapi/document.ts';
import { seededStock } from '../seed/stock.ts';
import type { Service } from '../service.ts';
import type { KeyRecord, Store } from '../store/store.ts';
import {
  BadRequest,
  banOf,
  notAPet,
  type PetChange,
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
  'GET /metrics': async ({ service: { metrics } }) =>
    metrics === null ? nothing() : { status: 200, text: { type: metrics.contentType, content: await metrics.text() } },
  'GET /openapi.json': async ({ service, serviceUrl }) =>
    ok(openApiDocument(serviceUrl, await examplePet(service.store))),
  'GET /journal': async ({ service }) => ok(await service.store.journal.all()),
  'GET /faults': ({ service }) => faultsOf(service),
  'POST /faults': async ({ service, request }) => {
    await service.store.faults.add(specsOf(await readJson(request)));
    return faultsOf(service);
  },
  'DELETE /faults': async ({ service }) => {
    await service.store.faults.replace([]);
    return faultsOf(service);
  },
  'POST /clock': async ({ service: { store }, request }) => {
    const milliseconds = secondsOf(await readJson(request)) * 1000;
    if (store.now() + milliseconds > LAST_DATE) throw new BadRequest('The clock can not go beyond the year 9999.');
    await store.advance(milliseconds);
    return ok({ now: new Date(store.now()).toISOString() });
  },
  'GET /keys': async ({ service }) => ok((await service.store.keys()).map((record) => shown(record, service))),
  'PUT /keys/*/usage': async ({ service, request, parameter }) => {
    const used = usageOf(await readJson(request));
    const { minuteMs } = service.rules;
    const record = await service.store.changeUsage(parameter, (usage, now) => ({
      ...usage,
      minute: withUsed(windowAt(usage.minute, now, minuteMs), used.minute),
      day: withUsed(windowAt(usage.day, now, DAY_MS), used.day),
    }));
    return record === null ? noKey(parameter) : ok(shown(record, service));
  },
  'PUT /keys/*/ban': async ({ service, request, parameter }) => {
    const seconds = banOf(await readJson(request));
    return changeBan(service, parameter, seconds);
  },
  'DELETE /keys/*/ban': ({ service, parameter }) => changeBan(service, parameter, null),
  'PUT /inventory/*': async ({ service, request, parameter }) => {
    const { item, isNew } = await putPet(service.store, petIdOf(parameter), await petChangeOf(request));
    service.metrics?.stockChanged('put');
    const content = `{"petId":${item.petId},"quantity":${item.quantity},"status":${JSON.stringify(item.status)}}`;
    return { status: isNew ? 201 : 200, text: { type: 'application/json', content } };
  },
  'DELETE /inventory/*': async ({ service, parameter }) => {
    const petId = petIdOf(parameter);
    if (!(await service.store.remove(petId))) return { status: 404, body: `There is no pet ${petId}.` };
    service.metrics?.stockChanged('remove');
    return ok({ removed: true });
  },
  'POST /reset': async ({ service, request }) => {
    const seed = seedOf(await readJson(request));
    await service.store.replace(seededStock(seed), { forgetsUsage: true });
    service.metrics?.stockChanged('reset');
    return ok({ reset: true });
  },
};

/** Answers what the port is there for. @throws BadRequest, SyntaxError, FaultSpecError, StorageError */
export async function replyTo(request: IncomingMessage, service: Service, serviceUrl: string): Promise<Reply> {
  const segments = (request.url ?? '').split('?')[0]?.split('/') ?? [];
  for (const [route, answer] of Object.entries(ROUTES)) {
    const [method, path = ''] = route.split(' ');
    const wanted = path.split('/');
    const isIt =
      (request.method === method || (request.method === 'HEAD' && method === 'GET')) &&
      wanted.length === segments.length &&
      wanted.every((segment, at) => segment === '*' || segment === segments[at]);
    if (isIt) return answer({ service, serviceUrl, request, parameter: segments[wanted.indexOf('*')] ?? '' });
  }
  return nothing();
}

function ok(body: unknown): Reply {
  return { status: 200, body };
}

function nothing(): Reply {
  return { status: 404, body: 'There is nothing at this address.' };
}

function noKey(id: string): Reply {
  return { status: 404, body: `There is no key ${id.slice(0, 40)}.` };
}

async function faultsOf({ store }: Service): Promise<Reply> {
  return ok({ faults: await store.faults.specs() });
}

function withUsed<Window extends { readonly used: bigint }>(window: Window, used: bigint | undefined): Window {
  return used === undefined ? window : { ...window, used };
}

/** What a change leaves out stays as it is in that moment: a quantity that a client sets meanwhile is not undone. @throws BadRequest */
async function putPet(store: Store, petId: bigint, { quantity, status }: PetChange) {
  if (quantity === undefined) {
    const item = status === undefined ? await store.find(petId) : await store.setStatus(petId, status);
    if (item === null) throw notAPet();
    return { item, isNew: false };
  }
  const known = status === undefined ? await store.setQuantity(petId, quantity) : await store.find(petId);
  const item = { petId, quantity, status: status ?? known?.status ?? ('available' as const) };
  if (known === null || status !== undefined) await store.put([item]);
  return { item, isNew: known === null };
}

/** @param seconds null: the ban ends, and its strikes are forgotten */
async function changeBan(service: Service, id: string, seconds: number | null): Promise<Reply> {
  if (service.rules.ban === null && seconds !== null) {
    throw new BadRequest('This service was started with --no-ban, so that no key can be banned.');
  }
  const record = await service.store.changeUsage(id, (usage, now) => {
    const bannedUntil = seconds === null ? null : now + seconds * 1000;
    return { ...usage, conduct: { firstRefusalAt: null, strikes: 0, bannedUntil } };
  });
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
