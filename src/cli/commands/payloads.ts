import { operations } from '../../api/specification.ts';
import { exactJson, scalarOf } from '../../output/json-format.ts';
import type { Column, View } from '../../output/view.ts';
import { FailureError, NotFoundError } from '../../shared/errors.ts';
import type { Json } from '../../shared/json.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { type Command, define, fieldsOption } from './command.ts';
import { noSuchPets } from './inventory/find-pets.ts';
import { petIdOf } from './option-values.ts';

const petsGet = define({
  summary: 'show the record of one pet',
  operands: { '<petId>': 'the pet, by its id or name' },
  description: 'Shows the record of one pet, as the service returns it. Deprecated by the service. Sends one request.',
  examples: [['petstock pets get 4'], ['petstock pets get 4 --json']],
  run: async function* (invocation, _options, petIdText) {
    const petId = await petIdOf(invocation, petIdText ?? '');
    const { client } = await invocation.connections.connect({ isShown: true });
    const { value, headers } = await client.getPayload(operations.getPet, { petId }).catch((error) => {
      if (!(error instanceof NotFoundError && error.serviceError)) throw error;
      const { status, serviceError } = error;
      throw noSuchPets(invocation, [petId]).with({ status, serviceError, isReworded: true, cause: error });
    });
    const sunsetTime = typeof headers.sunset === 'string' ? Date.parse(headers.sunset) : Number.NaN;
    const sunset = Number.isNaN(sunsetTime) ? '' : ` and will be removed on ${new Date(sunsetTime).toUTCString()}`;
    await invocation.messages.warn(`GET /pets/{petId} is deprecated by the service${sunset}`);
    yield* shownPayload(invocation, value);
  },
});

const ordersList = define({
  summary: 'list the store orders',
  description: 'Lists the store orders, as the service returns them. Sends one request.',
  options: [fieldsOption],
  examples: [['petstock orders list'], ['petstock orders list --json']],
  run: async function* (invocation) {
    const { client } = await invocation.connections.connect({ isShown: true });
    const { value } = await client.getPayload(operations.listOrders, {});
    yield* shownPayload(invocation, value);
  },
});

export const petsCommand: Command = {
  summary: 'show a pet record (deprecated by the service)',
  group: 'Stock',
  description: 'Shows pet records. The service has deprecated this operation.',
  commands: { get: petsGet },
};

export const ordersCommand: Command = {
  summary: 'list store orders',
  group: 'Stock',
  description: 'Shows store orders.',
  commands: { list: ordersList },
};

/** Shows a response body that the specification leaves undefined: in columns if it has them, otherwise as JSON. */
async function* shownPayload(invocation: Invocation, value: Json): AsyncGenerator<View, void> {
  const view = payloadView(value);
  if (view !== undefined) {
    yield view;
    return;
  }
  const { results, globals } = invocation;
  if (results.isFormatNamed && (results.format === 'csv' || results.format === 'tsv')) {
    throw new FailureError(`This response has no columns, so it can't be ${results.format}. Use --json`);
  }
  const text = exactJson(value, globals.stringIds);
  await results.quote(text);
}

/**
 * Returns a view of a body that the specification leaves undefined. It has a column for each field of an object, or of
 * an array of objects. Nested values are shown as JSON text, and JSON output is the value itself.
 * @returns undefined if the value is neither, or if its columns would be nearly all blank
 */
export function payloadView(value: unknown): View | undefined {
  const objects = Array.isArray(value) ? value : [value];
  if (!objects.every(isPlainObject)) return undefined;
  // For each field, true if it has no text. Its column is then aligned to the right.
  const fields = new Map<string, boolean>();
  let present = 0;
  for (const object of objects) {
    for (const [field, cell] of Object.entries(object)) {
      fields.set(field, fields.get(field) !== false && typeof scalarOf(cell) !== 'string');
      present += 1;
    }
  }
  if (fields.size * objects.length > maxBlank + blankShare * present) return undefined;
  const columns = [...fields].map(
    ([field, isNumber]): Column => ({ field, title: field, align: isNumber ? 'right' : 'left' }),
  );
  return {
    shape: Array.isArray(value) ? 'list' : 'one',
    isServiceText: true,
    columns,
    rows: [objects],
    json: value,
  };
}

/**
 * A table may have `blankShare` cells for each value that is present, and `maxBlank` more. Objects with hardly any
 * common field would exceed that.
 */
const blankShare = 100;
const maxBlank = 100_000;

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
