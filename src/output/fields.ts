import { type Parsed, parsed, problem, quoted } from '../shared/parsed.ts';
import { mapBatches } from './batches.ts';
import type { Column, View } from './view.ts';

/**
 * Parses the values of `--fields`: names from `known` separated by commas, each once in a value. The values of several
 * options are combined.
 */
export function parseFields<Field extends string>(
  values: readonly string[],
  known: readonly Field[],
): Parsed<readonly Field[]> {
  const list = `the fields are ${known.join(', ')}`;
  const chosen = new Set<Field>();
  for (const value of values) {
    const own = new Set<Field>();
    for (const name of value.split(',').map((part) => part.trim())) {
      const field = known.find((each) => each === name);
      if (field === undefined)
        return problem(name === '' ? `a field is empty: ${list}` : `${quoted(name)} is not a field: ${list}`);
      if (own.has(field)) return problem(`${quoted(name)} is named twice: ${list}`);
      own.add(field);
      chosen.add(field);
    }
  }
  return parsed([...chosen]);
}

/**
 * Returns the view with only some of its fields, in the given order, in every format. An error lists the available
 * fields.
 */
export function chosenFields(view: View, values: readonly string[]): Parsed<View> {
  const known = view.columns.map(({ field }) => field);
  // JSON has the counts of a run as one member.
  const members = view.document !== undefined && known.includes('notAttempted') ? [...known, 'counts'] : known;
  const fields = parseFields(values, members);
  if (!fields.ok) return known.length === 0 ? parsed(view) : fields;
  const { value } = fields;
  if (value.length === known.length && value.every((field, index) => field === known[index])) return parsed(view);
  const columns = value.flatMap((field): readonly Column[] => view.columns.filter((column) => column.field === field));
  const { document, json, table: _table, ...rest } = view;
  return parsed({
    ...rest,
    columns,
    ...(document && {
      document: { head: document.head, rows: mapBatches(document.rows, (row) => picked(row, value)) },
    }),
    ...(Array.isArray(json) && { json: json.map((row) => picked(row, value)) }),
  });
}

/**
 * Returns the chosen members of a row in JSON. A count is a field of its own in CSV, and a member of `counts` in JSON.
 */
function picked(row: object, fields: readonly string[]): object {
  const values = new Map<string, unknown>(Object.entries(row));
  const counts = new Map<string, unknown>(Object.entries(values.get('counts') ?? {}));
  return Object.fromEntries(fields.map((field) => [field, values.get(field) ?? counts.get(field) ?? null]));
}
