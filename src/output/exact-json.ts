import { JsonNumber } from '../shared/json.ts';

/** Matches text to which JSON.stringify would only add quotes. */
const plain = /^[ !#-[\]-~]*$/;
/** Matches characters that are valid in JSON but unsafe on a terminal; they are written as escapes. */
const harmful = /[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

export function jsonString(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(
    harmful,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns a number in JSON, with all digits of a bigint; `null` if JSON has no such number. */
function jsonNumber(value: number | bigint): string {
  return typeof value === 'bigint' || Number.isFinite(value) ? `${value}` : 'null';
}

/**
 * Returns compact JSON without losing digits: bigint and JsonNumber are written as their digits, a Map as an object in
 * its order. As in JSON.stringify, undefined is left out of objects and is null in arrays.
 * @param stringIds whether `petId`, and ids in a list `pets`, are strings, for readers with 53-bit numbers
 */
export function exactJson(value: unknown, stringIds = false): string {
  switch (typeof value) {
    case 'string':
      return jsonString(value);
    case 'number':
    case 'bigint':
      return jsonNumber(value);
    case 'boolean':
      return `${value}`;
    case 'object':
      return value === null ? 'null' : objectJson(value, stringIds);
    default:
      return 'null';
  }
}

function objectJson(value: object, stringIds: boolean): string {
  if (Array.isArray(value)) return `[${value.map((one) => exactJson(one, stringIds)).join(',')}]`;
  if (value instanceof JsonNumber) return value.value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return exactJson(value.toJSON());
  const entries: Iterable<[unknown, unknown]> = value instanceof Map ? value : Object.entries(value);
  const members: string[] = [];
  for (const [name, member] of entries) {
    if (member !== undefined) members.push(memberJson(`${name}`, member, stringIds));
  }
  return `{${members.join(',')}}`;
}

/** Returns `"name":value`. */
export function memberJson(name: string, value: unknown, stringIds: boolean): string {
  let text: string;
  if (stringIds && name === 'petId') text = idJson(value);
  else if (stringIds && name === 'pets' && Array.isArray(value)) text = `[${value.map(idJson).join(',')}]`;
  else text = exactJson(value, stringIds);
  return `${jsonString(name)}:${text}`;
}

function idJson(value: unknown): string {
  const text = exactJson(value, true);
  return /^[-\d]/.test(text) ? `"${text}"` : text;
}
