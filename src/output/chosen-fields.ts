import { fault, type Parsed, parsed, quoted } from '../shared/parsed.ts';
import { type Column, mapBatches, type View } from './view.ts';

/**
 * Reads the values of `--fields`: names from `known` with commas between them, each once in a value. The values of several
 * options add up.
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
        return fault(name === '' ? `a field is empty: ${list}` : `${quoted(name)} is not a field: ${list}`);
      if (own.has(field)) return fault(`${quoted(name)} is named twice: ${list}`);
      own.add(field);
      chosen.add(field);
    }
  }
  return parsed([...chosen]);
}

/** Returns the view with some of its fields alone, in the order given, in every format. A fault names those that it has. */
export function chosenFields(view: View, values: readonly string[]): Parsed<View> {
  const known = view.columns.map(({ field }) => field);
  // JSON has the counts of a run as one member.
  const members = view.document !== undefined && known.includes('notAttempted') ? [...known, 'counts'] : known;
  const fields = parseFields(values, members);
  if (!fields.ok) return known.length === 0 ? parsed(view) : fields;
  const { value } = fields;
  if (value.length === known.length && value.every((field, index) => field === known[index])) return parsed(view);
  const columns = value.flatMap((field): readonly Column[] => view.columns.filter((column) => column.field === field));
  const { document, json, table: _table, items: _items, ...rest } = view;
  return parsed({
    ...rest,
    columns,
    ...(document && {
      document: { head: document.head, rows: mapBatches(document.rows, (row) => picked(row, value)) },
    }),
    ...(Array.isArray(json) && { json: json.map((row) => picked(row, value)) }),
  });
}

/** A count is a field of its own in CSV, and a member of `counts` in JSON. */
function picked(row: object, fields: readonly string[]): object {
  const values = new Map<string, unknown>(Object.entries(row));
  const counts = new Map<string, unknown>(Object.entries(values.get('counts') ?? {}));
  return Object.fromEntries(fields.map((field) => [field, values.get(field) ?? counts.get(field) ?? null]));
}
