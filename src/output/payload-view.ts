import { exactJson } from './exact-json.ts';
import type { Column, Row, Scalar, View } from './view.ts';

/**
 * A view of JSON whose shape is not specified: a column for each field that occurs in a flat object, or in an array of
 * them. What is nested in a field is shown as JSON text, and JSON output is the value itself.
 *
 * @returns undefined where the value is neither, so that it has no columns
 */
export function payloadView(value: unknown): View | undefined {
  const objects = Array.isArray(value) ? value : [value];
  if (!objects.every(isPlainObject)) return undefined;
  const fields = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const columns: Column[] = fields.map((field) => {
    const isNumber = objects.every((object) => typeof toScalar(object[field] ?? null) !== 'string');
    return { field, title: field, align: isNumber ? 'right' : 'left' };
  });
  const rows = objects.map((object): Row => {
    const cells = Object.entries(object).map(([field, cell]) => [field, toScalar(cell)]);
    return Object.fromEntries(cells);
  });
  return { shape: Array.isArray(value) ? 'list' : 'one', columns, rows: [rows], json: value };
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function toScalar(value: unknown): Scalar {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  const text = exactJson(value);
  return /^-?(0|[1-9]\d*)$/.test(text) ? BigInt(text) : text;
}
