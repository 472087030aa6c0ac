import { type Parsed, parsed, problem, quoted } from '../shared/parsed.ts';
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
 * Returns the view with only some of its fields, in the given order, in every format: columns, or those that CSV has in
 * place of one. An error lists the available fields.
 */
export function chosenFields(view: View, values: readonly string[]): Parsed<View> {
  const known = view.columns.flatMap((column) => [column, ...(column.flat ?? [])]);
  if (known.length === 0) return parsed(view);
  const fields = parseFields(
    values,
    known.map(({ field }) => field),
  );
  if (!fields.ok) return fields;
  const { value } = fields;
  if (value.length === view.columns.length && value.every((field, index) => field === view.columns[index]?.field)) {
    return parsed(view);
  }
  const columns = value.flatMap((field): readonly Column[] => {
    const { isLeftOut: _, ...column } = known.find((each) => each.field === field) ?? { field, title: field };
    return [column];
  });
  const { inLines: _inLines, json: _json, table: _table, ...rest } = view;
  return parsed({ ...rest, columns });
}
