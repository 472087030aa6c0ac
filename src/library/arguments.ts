import { type Parsed, parseDelta, parsePetId, parseQuantity } from '../inventory/items.ts';
import { UsageError } from '../shared/errors.ts';

/** A signed 64-bit integer: a bigint, a safe integer, or its decimal digits. */
export type PetIdInput = bigint | number | string;
/** A safe integer: a number, a bigint, or its decimal digits. Those of a delta may have a plus sign. */
export type QuantityInput = number | bigint | string;

/** @throws UsageError if the value is not a pet id, or is a number that may have lost digits */
export function petIdOf(value: unknown): bigint {
  return integer(value, 'petId', parsePetId);
}

/** @throws UsageError if the value is not a safe integer */
export function quantityOf(value: unknown, name = 'quantity'): number {
  return integer(value, name, parseQuantity);
}

/** @throws UsageError if the value is not a safe integer */
export function deltaOf(value: unknown): number {
  return integer(value, 'delta', parseDelta);
}

/** @throws UsageError if the value is set and is not a whole number of at least `least` */
export function countOf(value: unknown, name: string, least = 0): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
  throw new UsageError(`${name} must be a whole number from ${least}, not ${shown(value)}`);
}

/**
 * Converts an optional Date to milliseconds since the Unix epoch.
 * @throws UsageError if the value is set and is not a valid Date
 */
export function timeOf(value: unknown, name: string): number | undefined {
  if (value === undefined) return undefined;
  const time = value instanceof Date ? value.getTime() : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new UsageError(`${name} must be a valid Date, not ${value instanceof Date ? 'an invalid one' : shown(value)}`);
}

/** @throws UsageError if the value is set and is not a string, or contains a NUL character */
export function textOf(value: unknown, name: string): string | undefined {
  // PostgreSQL can't store a NUL character.
  if (typeof value === 'string' && value.includes('\0')) throw new UsageError(`${name} contains a NUL character`);
  if (value === undefined || typeof value === 'string') return value;
  throw new UsageError(`${name} must be a string, not ${shown(value)}`);
}

/** @throws UsageError if the value is set and is none of the words */
export function wordOf<Word extends string>(value: unknown, name: string, words: readonly Word[]): Word | undefined {
  if (value === undefined || words.some((word) => word === value)) return value as Word | undefined;
  throw new UsageError(`${name} must be one of ${words.join(', ')}`);
}

/** @throws UsageError if the value is set and is not an AbortSignal */
export function signalOf(value: unknown): AbortSignal | undefined {
  if (value === undefined || value instanceof AbortSignal) return value;
  throw new UsageError(`signal must be an AbortSignal, not ${shown(value)}`);
}

/** @throws UsageError if the value is not an object */
export function requireObject(value: unknown, name: string): void {
  if (typeof value === 'object' && value !== null) return;
  throw new UsageError(`${name} must be an object, not ${shown(value)}`);
}

function integer<T>(value: unknown, name: string, parse: (text: string) => Parsed<T>): T {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    const lost = Number.isInteger(value) ? ': it may have lost digits. Give it as a bigint or a string' : '';
    throw new UsageError(`${name} must be a whole number, not ${value}${lost}`);
  }
  if (typeof value !== 'bigint' && typeof value !== 'number' && typeof value !== 'string') {
    throw new UsageError(`${name} must be a whole number, not ${shown(value)}`);
  }
  // `String(-0)` is `0`, so -0 counts as 0.
  const parsed = parse(String(value));
  if (parsed.ok) return parsed.value;
  throw new UsageError(`${name}: ${parsed.problem}`);
}

/**
 * Describes a value for a message. Shows only the type of a text or an object, because its content may be long, or a
 * key.
 */
function shown(value: unknown): string {
  if (value === null || ['undefined', 'boolean', 'number'].includes(typeof value)) return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
