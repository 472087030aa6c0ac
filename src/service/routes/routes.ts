import { type Answer, Refusal } from '../http/answer.ts';
import { type Exchange, readBody } from '../http/exchange.ts';
import type { InventoryItem } from '../seed/stock.ts';
import type { Service } from '../service.ts';
import { parsePetId, parseQuantity, readPetId } from './values.ts';

interface Call {
  readonly exchange: Exchange;
  readonly service: Service;
  /** The decoded value of the path parameter, '' if the path has no parameter. */
  readonly parameter: string;
}

type Operation = (call: Call) => Promise<Answer>;

interface Route {
  /** The path below the base URL, with the name of its parameter: `/inventory/{petId}`. */
  readonly path: string;
  readonly operations: Readonly<Record<string, Operation>>;
  /** Headers of every response on this path, whatever its status. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns an InventoryItem as a response. Its numbers are written from bigints, with all digits. */
function itemAnswer({ petId, quantity, status }: InventoryItem): Answer {
  return { status: 200, body: `{"petId":${petId},"quantity":${quantity},"status":${JSON.stringify(status)}}` };
}

function petNotFound(petId: bigint): Refusal {
  return new Refusal(404, 'pet_not_found', `There is no pet ${petId}.`);
}

/** GET /inventory: all items. A single page is sent as a whole; more pages are streamed as the client reads. */
async function listInventory({ exchange, service: { storage } }: Call): Promise<Answer> {
  const pages = storage.inventory(exchange.validKey ?? '');
  const first = await pages.next();
  if (first.done === true) return { status: 200, body: '[]' };
  const second = await pages.next();
  if (second.done === true) return { status: 200, body: `[${first.value}]` };
  return { status: 200, body: listOf(first.value, second.value, pages) };
}

async function* listOf(first: string, second: string, rest: AsyncGenerator<string, void>) {
  try {
    yield `[${first}`;
    yield `,${second}`;
    for await (const page of rest) yield `,${page}`;
    yield ']';
  } finally {
    await rest.return();
  }
}

/**
 * GET /pets/{petId}, deprecated. The specification leaves its payload undefined: here it is the imported record, or
 * else the id and the status from the inventory.
 */
async function getPet({ service, parameter }: Call): Promise<Answer> {
  const petId = parsePetId(parameter);
  const pet = await service.timed('find', () => service.storage.find(petId));
  if (pet === null) throw petNotFound(petId);
  if (pet.record !== undefined) return { status: 200, body: pet.record };
  return { status: 200, body: `{"petId":${pet.petId},"status":${JSON.stringify(pet.status)}}` };
}

/** GET /store/orders. The specification leaves its payload undefined: here it is the imported orders, unchanged. */
async function listOrders({ service: { storage } }: Call): Promise<Answer> {
  return { status: 200, body: `[${(await storage.orders()).join(',')}]` };
}

/**
 * PATCH /inventory/{petId}: sets the quantity of one pet. Its status stays unchanged, because the specification defines
 * no transitions.
 */
async function updateInventory({ exchange, service, parameter }: Call) {
  requireJson(exchange);
  const body = await readBody(exchange);
  const petId = parsePetId(parameter);
  const quantity = parseQuantity(body, service.bounds);
  const item = await service.timed('set', () => service.storage.setQuantity(petId, quantity));
  if (item === null) throw petNotFound(petId);
  return itemAnswer(item);
}

/** @throws Refusal 415 unless the body is `application/json`, with any parameters, and not compressed */
function requireJson({ request }: Exchange): void {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw unsupported('The body must be application/json.', { 'Accept-Patch': 'application/json' });
  }
  const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity') {
    throw unsupported('The body must not be compressed.', { 'Accept-Encoding': 'identity' });
  }
}

function unsupported(message: string, headers: Readonly<Record<string, string>>): Refusal {
  return new Refusal(415, 'unsupported_media_type', message, headers);
}

/**
 * The headers of the deprecated GET /pets/{petId}. The specification leaves both dates open, so this service has chosen
 * them.
 */
const DEPRECATED = {
  /** See RFC 9745. */
  Deprecation: `@${Date.UTC(2026, 0, 1) / 1000}`,
  /** See RFC 8594. */
  Sunset: new Date(Date.UTC(2027, 11, 31, 23, 59, 59)).toUTCString(),
};

const ROUTES: readonly Route[] = [
  { path: '/inventory', operations: { GET: listInventory } },
  { path: '/inventory/{petId}', operations: { PATCH: updateInventory } },
  { path: '/pets/{petId}', operations: { GET: getPet }, headers: DEPRECATED },
  { path: '/store/orders', operations: { GET: listOrders } },
];

const PARTS = new Map(ROUTES.map((route) => [route, route.path.slice(1).split('/')]));

export interface Match {
  readonly route: Route;
  readonly parameter: string;
}

/** Returns the route of a matching path, for headers, logs and metrics. */
export function matchedRoute({ route: { path, headers = {} }, parameter }: Match) {
  return { path, petId: readPetId(parameter) === null ? null : parameter, headers };
}

export function matchRoute(segments: readonly string[]): Match | null {
  for (const [route, parts] of PARTS) {
    const isMatch = parts.every((part, at) => (part === '{petId}' ? segments[at] !== '' : part === segments[at]));
    if (isMatch && parts.length === segments.length) {
      return { route, parameter: segments[parts.indexOf('{petId}')] ?? '' };
    }
  }
  return null;
}

/** Returns the value of the Allow header for `OPTIONS *`: the methods of the whole service. */
export function allMethods(): string {
  return [...new Set(ROUTES.flatMap((route) => allowedMethods(route).split(', ')))].sort().join(', ');
}

/** Returns the value of the Allow header: HEAD if there is GET, and always OPTIONS. */
export function allowedMethods({ operations }: Route): string {
  const methods = Object.keys(operations);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}
