import { jsonNumber, jsonString } from './exact-json.ts';
import { itemFields } from './inventory-view.ts';
import type { ItemLineFormat } from './item-lines.ts';
import type { Column, Row, Scalar, View } from './view.ts';

/** An item on one line, as `jsonRowWriter` writes it, and what follows it. */
export function jsonItemLine(view: View, end: string): ItemLineFormat {
  const cells = itemFields(view).map((field, index) => ({ field, before: `${index === 0 ? '{' : ','}"${field}":` }));
  return { cells, end: `}${end}`, status: jsonString };
}

/** Makes a row an object on one line, with the columns as its members, in their order. */
export function jsonRowWriter(columns: readonly Column[]): (row: Row) => string {
  const members = columns.map(({ field }, index) => ({
    field,
    name: `${index === 0 ? '' : ','}${jsonString(field)}:`,
  }));
  return (row) => {
    let text = '{';
    for (const { field, name } of members) text += name + jsonScalar(row[field]);
    return `${text}}`;
  };
}

function jsonScalar(value: Scalar | undefined): string {
  switch (typeof value) {
    case 'string':
      return jsonString(value);
    case 'number':
    case 'bigint':
      return jsonNumber(value);
    case 'boolean':
      return value ? 'true' : 'false';
    default:
      return 'null';
  }
}
