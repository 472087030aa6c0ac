/** Where JSON.stringify would change nothing but add quotes. */
const plain = /^[ !#-[\]-~]*$/;
const losslessNumber = Symbol.for('lossless-json.LosslessNumber');
/** Legal in JSON as they are, but not harmless on a terminal: written as escapes, which mean the same. */
const harmful = /[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A JSON string. */
export function jsonString(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(harmful, (character) => `\\u${hex(character)}`);
}

/** A JSON number, exact for bigint; null where JSON has no such number. */
export function jsonNumber(value: number | bigint): string {
  return typeof value === 'bigint' || Number.isFinite(value) ? `${value}` : 'null';
}

/**
 * Compact JSON in which no digit is lost: bigint and lossless-json's numbers are written as their digits, a Map as an
 * object in its own order. Otherwise as JSON.stringify: undefined is left out of objects and is null in arrays.
 */
export function exactJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return jsonString(value);
    case 'number':
    case 'bigint':
      return jsonNumber(value);
    case 'boolean':
      return `${value}`;
    case 'object':
      return value === null ? 'null' : objectJson(value);
    default:
      return 'null';
  }
}

function objectJson(value: object): string {
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`;
  if (isLosslessNumber(value)) return value.value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return exactJson(value.toJSON());
  const entries: Iterable<[unknown, unknown]> = value instanceof Map ? value : Object.entries(value);
  const members: string[] = [];
  for (const [name, member] of entries) {
    if (member !== undefined) members.push(`${jsonString(`${name}`)}:${exactJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** Recognised by its symbol, so that the library need not be loaded; no data has it, since no text has symbols for keys. */
export function isLosslessNumber(value: object): value is { readonly value: string } {
  return losslessNumber in value;
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0');
}
