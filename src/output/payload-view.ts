import { exactJson } from './exact-json.ts';
import { batchesOf, type Column, type Row, type Scalar, type View } from './view.ts';

/**
 * A view of JSON whose shape is not specified: a column for each field that occurs in a flat object, or in an array of
 * them. What is nested in a field is shown as JSON text, and JSON output is the value itself.
 *
 * @returns undefined where the value is neither, so that it has no columns
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
  if (fields.size * objects.length > mostBlank + blankShare * present) return undefined;
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
const mostBlank = 100_000;

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
