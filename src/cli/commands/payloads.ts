import { exactJson } from '../../output/exact-json.ts';
import { batchesOf, type Column, type Row, type Scalar, type View } from '../../output/view.ts';
import { FailureError, NotFoundError } from '../../shared/errors.ts';
import type { Json } from '../../shared/json.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { define, fieldsOption } from './define.ts';
import { noSuchPets } from './inventory/stock.ts';
import { petIdOf } from './option-values.ts';

export const definePetsGet = define({
  operands: { '<petId>': 'the pet, by its id or name' },
  description: 'Shows the record of one pet, as the service sends it. Deprecated by the service. Takes one request.',
  examples: [['petstock pets get 4'], ['petstock pets get 4 --json']],
  action: async (invocation, _options, petIdText) => {
    const petId = await petIdOf(invocation, petIdText ?? '');
    const { client } = await invocation.connections.connectToRead();
    const { value, headers } = await client.getPet(petId).catch((error) => {
      if (!(error instanceof NotFoundError && error.serviceError)) throw error;
      const { status, serviceError } = error;
      throw noSuchPets(invocation, [petId]).with({ status, serviceError, cause: error });
    });
    const goesAway = typeof headers.sunset === 'string' ? Date.parse(headers.sunset) : Number.NaN;
    const sunset = Number.isNaN(goesAway) ? '' : ` and goes away on ${new Date(goesAway).toUTCString()}`;
    await invocation.messages.warn(`GET /pets/{petId} is deprecated by the service${sunset}`);
    await printPayload(invocation, value);
  },
});

export const defineOrdersList = define({
  description: 'Lists the store orders, as the service sends them. Takes one request.',
  options: [fieldsOption],
  examples: [['petstock orders list'], ['petstock orders list --json']],
  action: async (invocation) => {
    const { client } = await invocation.connections.connectToRead();
    const { value } = await client.listOrders();
    await printPayload(invocation, value);
  },
});

/** Prints an answer of unspecified shape: in columns if it has them, else as JSON. */
async function printPayload(invocation: Invocation, value: Json): Promise<void> {
  const view = payloadView(value);
  if (view !== undefined) return await invocation.results.print(view);
  const { results, globals } = invocation;
  if (results.isFormatNamed && (results.format === 'csv' || results.format === 'tsv')) {
    throw new FailureError(`This answer has no columns, so it can't be ${results.format}: use --json`);
  }
  const text = exactJson(value, globals.stringIds);
  await results.quote(text);
}

/**
 * A view of JSON whose shape is not specified: a column for each field that occurs in a flat object, or in an array of
 * them. What is nested in a field is shown as JSON text, and JSON output is the value itself.
 * @returns undefined if the value is neither, so that it has no columns
 */
export function payloadView(value: unknown): View | undefined {
  const objects = Array.isArray(value) ? value : [value];
  if (!objects.every(isPlainObject)) return undefined;
  // Whether all that a field holds is numbers.
  const fields = new Map<string, boolean>();
  let present = 0;
  for (const object of objects) {
    for (const [field, cell] of Object.entries(object)) {
      fields.set(field, fields.get(field) !== false && typeof toScalar(cell) !== 'string');
      present += 1;
    }
  }
  if (fields.size * objects.length > maxBlank + blankShare * present) return undefined;
  const columns = [...fields].map(
    ([field, isNumber]): Column => ({ field, title: field, align: isNumber ? 'right' : 'left' }),
  );
  return {
    shape: Array.isArray(value) ? 'list' : 'one',
    isForeign: true,
    columns,
    rows: batchesOf(() => objects, rowOf),
    json: value,
  };
}

/** Columns for objects that have hardly a field in common would be nearly all blank, and as many as the fields by the objects. */
const blankShare = 100;
const maxBlank = 100_000;

/** Without a prototype: a field may be called `constructor`, and an object may lack it. */
function rowOf(object: Readonly<Record<string, unknown>>): Row {
  const row = Object.create(null) as Record<string, Scalar>;
  for (const [field, cell] of Object.entries(object)) row[field] = toScalar(cell);
  return row;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** More digits than this are no id: reading them as a number would take longer than linear time. */
const integer = /^-?(0|[1-9]\d{0,39})$/;

function toScalar(value: unknown): Scalar {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  const text = exactJson(value);
  return integer.test(text) ? BigInt(text) : text;
}
