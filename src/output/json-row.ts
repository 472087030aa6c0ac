import { jsonNumber, jsonString } from './exact-json.ts';
import type { Column, Row, Scalar } from './view.ts';

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
