/** Where JSON.stringify would change nothing but add quotes. */
const plain = /^[ !#-[\]-~]*$/;
const losslessNumber = Symbol.for('lossless-json.LosslessNumber');
/** Legal in JSON as they are, but not harmless on a terminal: written as escapes, which mean the same. */
const harmful = /[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

export function jsonString(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(
    harmful,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A JSON number, exact for bigint; null if JSON has no such number. */
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

/**
 * A value for JSON with its pet ids as strings, for readers that keep 53 bits of a number: what is called `petId` or stands in a
 * list called `pets`, however deep. All else is as it was.
 */
export function withStringIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withStringIds);
  if (value instanceof Map) return new Map([...value].map(([name, member]) => [name, memberOf(`${name}`, member)]));
  if (typeof value !== 'object' || value === null || isLosslessNumber(value) || 'toJSON' in value) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, memberOf(name, member)]));
}

function memberOf(name: string, member: unknown): unknown {
  if (name === 'petId') return idText(member);
  if (name === 'pets' && Array.isArray(member)) return member.map(idText);
  return withStringIds(member);
}

function idText(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return `${value}`;
  if (typeof value === 'object' && value !== null && isLosslessNumber(value)) return value.value;
  return withStringIds(value);
}
