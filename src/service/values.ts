import { isJsonObject, type Json, numberText, parseJson } from '../shared/json.ts';
import { Refusal } from './http/answer.ts';

/** Smallest and largest quantity that a stock update may set; null if only int64 bounds it. */
export interface QuantityBounds {
  readonly min: bigint | null;
  readonly max: bigint | null;
}

const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 63n - 1n;

function isInt64(value: bigint): boolean {
  return SMALLEST <= value && value <= LARGEST;
}

/**
 * Returns the exact int64 of a JSON number; 5, 5.0 and 0.5e1 are the same integer. Null if the text is not a number, or
 * the number has a fraction or is too large. However large the exponent, the integer is made of at most 19 digits.
 */
export function exactInt64(number: string): bigint | null {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    number.match(/^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/) ?? [];
  const significant = `${whole}${fraction}`.replace(/^0+/, '');
  const digits = significant.replace(/0+$/, '');
  if (digits === '') return whole === '' ? null : 0n;
  const zeros = Number(exponent) - fraction.length + (significant.length - digits.length);
  if (zeros < 0 || digits.length + zeros > 19) return null;
  const value = BigInt(`${sign}${digits}${'0'.repeat(zeros)}`);
  return isInt64(value) ? value : null;
}

/** Returns the integer in a text, exactly; null if it is not an int64 in decimal. */
export function readInt64(text: string): bigint | null {
  const value = /^(0|-?[1-9]\d{0,18})$/.test(text) ? BigInt(text) : null;
  return value !== null && isInt64(value) ? value : null;
}

/**
 * Returns the exact quantity of an InventoryUpdate. Other fields are ignored.
 * @throws Refusal 400 if the text is not JSON, or `quantity` is missing, not an integer, or out of bounds
 */
export function parseQuantity(body: string, bounds: QuantityBounds): bigint {
  const update = parseBody(body);
  if (!isJsonObject(update)) {
    throw new Refusal(400, 'invalid_body', 'The body must be a JSON object with the field quantity.');
  }
  if (!Object.hasOwn(update, 'quantity')) {
    throw new Refusal(400, 'missing_quantity', 'The field quantity is required.');
  }
  const quantity = exactInt64(numberText(update.quantity) ?? '');
  if (quantity === null) throw new Refusal(400, 'invalid_quantity', 'quantity must be a 64-bit integer.');
  if (bounds.min !== null && quantity < bounds.min) throw outOfBounds(`at least ${bounds.min}`);
  if (bounds.max !== null && quantity > bounds.max) throw outOfBounds(`at most ${bounds.max}`);
  return quantity;
}

/**
 * @throws Refusal 400 for JSON that JSON.parse would refuse, and for an object that has two different values for one
 * name
 */
function parseBody(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    throw new Refusal(400, 'invalid_json', 'The body is not valid JSON.');
  }
}

function outOfBounds(bound: string): Refusal {
  return new Refusal(400, 'invalid_quantity', `quantity must be ${bound}.`);
}
