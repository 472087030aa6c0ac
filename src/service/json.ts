/** A JSON value. An integer is a bigint where a double could not hold all its digits. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** Returns the text of a value. All JSON of the service is made here. */
export function toJson(value: JsonValue): string {
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`);
  return `{${members.join(',')}}`;
}

const PIECE = 65_536;

/** Returns the text of a list in pieces of about 64 KiB, so that a list of any length can be sent. */
export function listToJson(values: Iterable<JsonValue>): readonly string[] {
  const pieces: string[] = [];
  let piece = '[';
  let separator = '';
  for (const value of values) {
    piece += separator + toJson(value);
    separator = ',';
    if (piece.length < PIECE) continue;
    pieces.push(piece);
    piece = '';
  }
  return [...pieces, `${piece}]`];
}
