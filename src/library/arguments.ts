import { type Parsed, parsePetId, parseQuantity } from '../inventory/items.ts';
import { UsageError } from '../shared/errors.ts';

/** An integer of 64 bits: a bigint, a safe integer, or its decimal digits. */
export type PetIdInput = bigint | number | string;
/** A safe integer: a number, a bigint, or its decimal digits. */
export type QuantityInput = number | bigint | string;

/** The id, exact. @throws UsageError for anything else, and for an id that may have lost digits */
export function petIdOf(value: unknown, name = 'petId'): bigint {
  return integer(value, name, parsePetId);
}

/** The quantity. @throws UsageError for what is no safe integer */
export function quantityOf(value: unknown, name = 'quantity'): number {
  return integer(value, name, parseQuantity);
}

/** A whole number from 0, such as milliseconds; undefined stays so. @throws UsageError */
export function countOf(value: unknown, name: string, least = 0): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
  throw new UsageError(`${name} must be a whole number from ${least}, not ${shown(value)}`);
}

/** Returns milliseconds since the Unix epoch; undefined stays so. @throws UsageError */
export function timeOf(value: unknown, name: string): number | undefined {
  if (value === undefined) return undefined;
  const time = value instanceof Date ? value.getTime() : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new UsageError(`${name} must be a valid Date, not ${value instanceof Date ? 'an invalid one' : shown(value)}`);
}

/** The text; undefined stays so. @throws UsageError */
export function textOf(value: unknown, name: string): string | undefined {
  // No database keeps it as it is.
  if (typeof value === 'string' && value.includes('\0')) throw new UsageError(`${name} has a NUL character in it`);
  if (value === undefined || typeof value === 'string') return value;
  throw new UsageError(`${name} must be a string, not ${shown(value)}`);
}

/** The signal; undefined stays so. @throws UsageError */
export function signalOf(value: unknown): AbortSignal | undefined {
  if (value === undefined || value instanceof AbortSignal) return value;
  throw new UsageError(`signal must be an AbortSignal, not ${shown(value)}`);
}

/** @throws UsageError for what is no object of options */
export function requireObject(value: unknown, name: string): void {
  if (typeof value === 'object' && value !== null) return;
  throw new UsageError(`${name} must be an object, not ${shown(value)}`);
}

function integer<T>(value: unknown, name: string, parse: (text: string) => Parsed<T>): T {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    const lost = Number.isInteger(value) ? ': it may have lost digits, give it as a bigint or as a string' : '';
    throw new UsageError(`${name} must be a whole number, not ${value}${lost}`);
  }
  if (typeof value !== 'bigint' && typeof value !== 'number' && typeof value !== 'string') {
    throw new UsageError(`${name} must be a whole number, not ${shown(value)}`);
  }
  // -0 is 0, as in every other comparison.
  const parsed = parse(String(value));
  if (parsed.ok) return parsed.value;
  throw new UsageError(`${name}: ${parsed.problem}`);
}

/** Returns the kind of a value, without its content: it may be long, or a key. */
function shown(value: unknown): string {
  if (value === null || ['undefined', 'boolean', 'number'].includes(typeof value)) return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
