import type { JsonValue } from './http/answer.ts';
import { Refusal } from './http/answer.ts';
import type { InventoryItem } from './item.ts';
import type { StockFile } from './stock-file.ts';
import { parseQuantity, type QuantityBounds, readInt64 } from './values.ts';

/** A parameter in a path. */
export interface Parameter<Value = unknown> {
  readonly description: string;
  readonly schema: JsonValue;
  readonly example: JsonValue;
  /** Returns the value of a decoded segment; null if it is not valid. */
  read(text: string): Value | null;
  /** The refusal of a segment that is not valid. */
  readonly code: string;
  readonly message: string;
  /** Whether a valid value is recorded with the request. Any other segment may be a misplaced key. */
  readonly isLoggable: boolean;
}

/** What the operations work on. */
export interface Shop {
  readonly store: StockFile;
  readonly bounds: QuantityBounds;
}

interface Call<Parameters, Body> extends Shop {
  readonly parameters: Parameters;
  readonly body: Body;
}

interface Declaration<Parameters, Body> {
  readonly operationId: string;
  readonly method: 'GET' | 'PATCH';
  /** The path below the base URL, with its parameters in braces. */
  readonly path: string;
  readonly parameters: Parameters;
  readonly tag: 'inventory' | 'pets' | 'store';
  readonly summary: string;
  readonly description: string;
  readonly stability?: 'experimental' | 'deprecated';
  /** The body, if the operation takes one: the schema that describes it, and how it is read. */
  readonly body?: {
    readonly schema: string;
    /** @throws Refusal 400 */
    read(text: string, shop: Shop): Body;
  };
  /** What a 200 returns. An undefined schema is any JSON. */
  readonly returns: { readonly description: string; readonly schema?: JsonValue };
  /** Statuses of errors in addition to those of every operation. */
  readonly refusals: readonly ('400' | '404' | '413' | '415')[];
  /** Headers of every response on this path, whatever its status. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns the JSON of a 200, as a value or as the items of a list. @throws Refusal */
  handle(
    call: Call<
      { readonly [Name in keyof Parameters]: Parameters[Name] extends Parameter<infer Value> ? Value : never },
      Body
    >,
  ): { readonly value: JsonValue } | { readonly list: Iterable<JsonValue> };
}

export type Operation = Declaration<Readonly<Record<string, Parameter>>, unknown>;

function operation<Parameters extends Readonly<Record<string, Parameter>>, Body = undefined>(
  declaration: Declaration<Parameters, Body>,
): Operation {
  return declaration as unknown as Operation;
}

const petId: Parameter<bigint> = {
  description: 'The ID of the pet.',
  schema: { type: 'integer', format: 'int64' },
  example: 1,
  read: readInt64,
  code: 'invalid_pet_id',
  message: 'petId must be a 64-bit integer in decimal.',
  isLoggable: true,
};

/** @throws Refusal 404 if there is no such pet */
function found(item: InventoryItem | null, id: bigint): InventoryItem {
  if (item === null) throw new Refusal(404, 'pet_not_found', `There is no pet ${id}.`);
  return item;
}

/** All operations of the service. The routes and the OpenAPI document are made of this table. */
export const operations: readonly Operation[] = [
  operation({
    operationId: 'listInventory',
    method: 'GET',
    path: '/inventory',
    parameters: {},
    tag: 'inventory',
    summary: 'List stock levels',
    description: 'Returns the current stock levels of all pets in the store.',
    returns: {
      description: 'All entries, ordered by id, as a snapshot.',
      schema: { type: 'array', items: { $ref: '#/components/schemas/InventoryItem' } },
    },
    refusals: [],
    handle: ({ store }) => ({ list: store.items() }),
  }),
  operation({
    operationId: 'updateInventory',
    method: 'PATCH',
    path: '/inventory/{petId}',
    parameters: { petId },
    tag: 'inventory',
    summary: 'Set the stock of one pet',
    description: 'Experimental: the request shape may change before it becomes stable.',
    stability: 'experimental',
    body: { schema: 'InventoryUpdate', read: (text, { bounds }) => parseQuantity(text, bounds) },
    returns: { description: 'The updated entry.', schema: { $ref: '#/components/schemas/InventoryItem' } },
    refusals: ['400', '404', '413', '415'],
    // The status stays unchanged, because the specification defines no transitions.
    handle: ({ store, parameters, body }) => ({
      value: found(store.setQuantity(parameters.petId, body), parameters.petId),
    }),
  }),
  operation({
    operationId: 'getPet',
    method: 'GET',
    path: '/pets/{petId}',
    parameters: { petId },
    tag: 'pets',
    summary: 'Get one pet',
    description: 'Deprecated. The specification does not define its payload: here it is the id and the status.',
    stability: 'deprecated',
    returns: { description: 'What is known about the pet.' },
    refusals: ['400', '404'],
    // The specification leaves both dates open, so this service has chosen them (RFC 9745, RFC 8594).
    headers: {
      Deprecation: `@${Date.UTC(2026, 0, 1) / 1000}`,
      Sunset: new Date(Date.UTC(2027, 11, 31, 23, 59, 59)).toUTCString(),
    },
    handle: ({ store, parameters }) => {
      const { petId: id, status } = found(store.find(parameters.petId), parameters.petId);
      return { value: { petId: id, status } };
    },
  }),
  operation({
    operationId: 'listOrders',
    method: 'GET',
    path: '/store/orders',
    parameters: {},
    tag: 'store',
    summary: 'List orders',
    description: 'The specification does not define its payload.',
    returns: { description: 'The orders.' },
    refusals: [],
    handle: ({ store }) => ({ list: store.orders().map((order) => ({ ...order })) }),
  }),
];
