import { LosslessNumber, parse } from 'lossless-json';

/** A JSON number with every digit that it came with. */
export interface JsonNumber {
  readonly isLosslessNumber: true;
  /** Its text, as in the JSON. */
  readonly value: string;
}

/** A parsed JSON value whose numbers keep every digit. */
export type Json = null | boolean | string | JsonNumber | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** @throws SyntaxError */
export function parseJson(text: string): Json {
  try {
    return parse(text) as Json;
  } catch (error) {
    // Nesting deep enough to overflow the stack is no answer either.
    throw error instanceof SyntaxError ? error : new SyntaxError((error as Error).message);
  }
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isJsonNumber(value);
}

/** Not by its fields: an object may have a field `isLosslessNumber`. */
function isJsonNumber(value: Json | undefined): value is JsonNumber {
  return (value as unknown) instanceof LosslessNumber;
}

/** The text of a JSON number; undefined for anything else. */
export function numberText(value: Json | undefined): string | undefined {
  return isJsonNumber(value) ? value.value : undefined;
}

/**
 * Reads a JSON number as an exact integer. `5.0` and `5e0` are integers in JSON.
 * @returns undefined where it is no number, or none without a fraction
 */
export function toInteger(value: Json | undefined): bigint | undefined {
  if (!isJsonNumber(value)) return undefined;
  const text = value.value;
  if (/^-?\d{1,40}$/.test(text)) return BigInt(text);
  const match = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const point = whole.length + Number(exponent);
  const digits = (whole + fraction).padEnd(point, '0');
  if (/[1-9]/.test(digits.slice(Math.max(point, 0)))) return undefined;
  return BigInt(`${sign}0${digits.slice(0, Math.max(point, 0))}`);
}
