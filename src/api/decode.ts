import { counted, type InventoryItem, type UnreadableItem } from '../inventory/items.ts';
import { FailureError } from '../shared/errors.ts';
import {
  isJsonObject,
  type Json,
  type JsonBounds,
  JsonSyntaxError,
  numberText,
  parseJson,
  parseJsonAt,
  responseBounds,
  TooManyValues,
  toInteger,
} from '../shared/json.ts';
import { endOfValue } from '../shared/json-text.ts';
import { decodeUtf8, maxBodyBytes, tooLong } from './body.ts';

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const safe = { min: BigInt(Number.MIN_SAFE_INTEGER), max: BigInt(Number.MAX_SAFE_INTEGER) };

/** The bounds of one item. A field that petstock does not use may appear several times, with any values. */
export const itemBounds: JsonBounds = { ...responseBounds, unique: new Set(['petId', 'quantity', 'status']) };

/** The operation that a response belongs to, for messages about an invalid one. */
export interface Operation {
  /** The request, like `GET /inventory`, or the name of a file with such a list. */
  readonly name: string;
  /** Whether the service marks the operation as experimental, so that the response may change its shape. */
  readonly experimental?: boolean;
}

/** @throws FailureError that names the operation, if the text is not JSON or exceeds the bounds */
export function decodeJson(text: string, operation: Operation, bounds?: JsonBounds): Json {
  try {
    return parseJson(text, bounds);
  } catch (cause) {
    if (cause instanceof TooManyValues) throw nonsense(operation, `is not valid: it ${cause.message}`, cause);
    const what =
      text.trim() === '' ? 'is empty' : text.trimStart().startsWith('<') ? 'is HTML, not JSON' : 'is not valid JSON';
    throw nonsense(operation, what, cause);
  }
}

/** @throws FailureError if the value is not a list, or an item is not valid; the message names the first such item */
export function decodeItems(value: Json, operation: Operation): InventoryItem[] {
  if (!Array.isArray(value)) throw nonsense(operation, 'is not an array of inventory items');
  return value.map((item: Json, index) => decodeItem(item, operation, `item ${index + 1} of `));
}

/** If more pets than this have an unreadable stock, the response is assumed to have another shape. */
const maxUnreadable = 1000;
/** Maximum length of an invalid number in a message, in characters. */
const maxNumber = 40;

/**
 * Returns the decoder for items that the list scanner can't read by itself. It also creates the errors for a list that
 * is not valid.
 * @param onUnreadable called for items whose quantity is not a safe integer. Without this callback, such an item is an
 * error; with it, only the 1,001st is
 */
export function exactDecoder(operation: Operation, onUnreadable?: (item: UnreadableItem) => void) {
  let unreadable = 0;
  const invalidAt = (offset: number, cause?: unknown) =>
    nonsense(operation, `is not valid JSON at byte ${offset}`, cause);
  return {
    /**
     * Decodes the item that begins at `at`.
     * @param index number of items before it
     * @param offset returns the position of a character in the body, in bytes
     * @returns where the item ends, and the item unless it is to be left out; undefined if the text ends first
     * @throws FailureError if the text is not JSON, or the item is not valid
     */
    item(text: string, at: number, index: number, offset: (at: number) => number) {
      const where = `item ${index + 1} of `;
      let found: ReturnType<typeof parseJsonAt>;
      try {
        found = parseJsonAt(text, at, itemBounds);
      } catch (error) {
        if (!(error instanceof SyntaxError || error instanceof TooManyValues)) throw error;
        if (endOfValue(text, at) === undefined) return undefined;
        throw invalidAt(offset(error instanceof JsonSyntaxError ? error.at : at), error);
      }
      const { value, end } = found;
      // The text may end within a number.
      if (end === text.length && !isJsonObject(value) && endOfValue(text, at) === undefined) return undefined;
      const item = readItem(value, operation, where);
      if (!('problem' in item)) return { item, end };
      unreadable += 1;
      if (onUnreadable === undefined || unreadable > maxUnreadable) throw unreadableQuantity(item, operation, where);
      onUnreadable(item);
      return { item: undefined, end };
    },
    /** Throws the FailureError for a body that is not a list. */
    other(text: string): never {
      decodeItems(decodeJson(text, operation), operation);
      throw nonsense(operation, 'is not an array of inventory items');
    },
    /** @param index number of items before the one that is too long */
    tooLong: (index: number) => tooLong(`Item ${index + 1} of the response to ${operation.name}`, maxBodyBytes.item),
    unexpected: invalidAt,
    cutOff: (length: number) =>
      nonsense(operation, `is not valid JSON: it is cut off after ${counted(length, 'byte')}`),
  };
}

export type ExactDecoder = ReturnType<typeof exactDecoder>;

/** @throws FailureError if the response is not UTF-8, not JSON, or not a single valid item */
export function decodeItemOf(bytes: Uint8Array, operation: Operation): InventoryItem {
  return decodeItem(decodeJson(decodeUtf8(bytes), operation, itemBounds), operation);
}

/** @throws FailureError if the value is not an object, or a field is missing, of the wrong type, or out of range */
function decodeItem(value: Json, operation: Operation, where = ''): InventoryItem {
  const item = readItem(value, operation, where);
  if ('problem' in item) throw unreadableQuantity(item, operation, where);
  return item;
}

/**
 * Returns the item; an UnreadableItem if its quantity is a number, but not a safe integer.
 * @throws FailureError if the value is not an object, a field is missing or of the wrong type, or `petId` is no int64
 */
function readItem(value: Json, operation: Operation, where: string): InventoryItem | UnreadableItem {
  if (!isJsonObject(value))
    throw nonsense(operation, `is not valid: ${where === '' ? 'it' : where.replace(/ of $/, '')} is not an object`);
  const petId = toInteger(value.petId);
  if (petId === undefined || petId < int64.min || petId > int64.max) {
    throw wrongField('petId', 'an int64', value.petId, operation, where);
  }
  const number = numberText(value.quantity);
  if (number === undefined) throw wrongField('quantity', 'an integer', value.quantity, operation, where);
  const { status } = value;
  if (typeof status !== 'string') throw wrongField('status', 'a string', status, operation, where);
  const quantity = toInteger(value.quantity);
  if (quantity !== undefined && quantity >= safe.min && quantity <= safe.max) {
    return { petId, quantity: Number(quantity), status };
  }
  const shown = number.length > maxNumber ? `${number.slice(0, maxNumber)}…` : number;
  const nearest = Number(number);
  // A number beyond 2^53 counts as an integer.
  const problem = Math.abs(nearest) <= Number.MAX_SAFE_INTEGER ? 'not an integer' : 'out of range';
  return { petId, status, number: shown, nearest, problem };
}

function unreadableQuantity({ petId, number, problem }: UnreadableItem, operation: Operation, where: string) {
  const what = `"quantity" of pet ${petId} in ${where}the response is ${number}, which is ${problem}`;
  return nonsense(operation, `is not valid: ${what}`);
}

function wrongField(field: string, type: string, value: Json | undefined, operation: Operation, where: string) {
  const problem = value === undefined ? 'is missing' : `is not ${type}`;
  return nonsense(operation, `is not valid: "${field}" in ${where}the response ${problem}`);
}

function nonsense(operation: Operation, what: string, cause?: unknown): FailureError {
  const advice = operation.experimental
    ? '. The service calls this operation experimental, so it may have changed its response'
    : '';
  return new FailureError(`The response to ${operation.name} ${what}${advice}`, { cause });
}
