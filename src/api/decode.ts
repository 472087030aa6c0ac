import { grouped, type InventoryItem, type UnreadableItem } from '../inventory/items.ts';
import { FailureError } from '../shared/errors.ts';
import { isJsonObject, type Json, numberText, parseJson, TooManyValues, toInteger } from '../shared/json.ts';
import { decodeUtf8, maxBodyBytes, tooLong } from './body.ts';

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const safe = { min: BigInt(Number.MIN_SAFE_INTEGER), max: BigInt(Number.MAX_SAFE_INTEGER) };

/** Where an answer came from, for the message when it makes no sense. */
export interface Operation {
  /** `GET /inventory` */
  readonly name: string;
  /** Its shape may change, says the service. */
  readonly experimental?: boolean;
}

/** @throws FailureError that names the operation, if the text is no JSON */
export function decodeJson(text: string, operation: Operation): Json {
  try {
    return parseJson(text);
  } catch (cause) {
    if (cause instanceof TooManyValues) throw nonsense(operation, `${cause.message}, which makes no sense`, cause);
    const what = text.trim() === '' ? 'is empty' : text.trimStart().startsWith('<') ? 'is HTML' : 'is not valid JSON';
    throw nonsense(operation, `${what}, where JSON was expected`, cause);
  }
}

/** @throws FailureError that names the first item and field that is missing or of the wrong type */
export function decodeItems(value: Json, operation: Operation): InventoryItem[] {
  if (!Array.isArray(value)) throw nonsense(operation, 'is not an array of inventory items');
  return value.map((item: Json, index) => decodeItem(item, operation, `item ${index + 1} of `));
}

/** So many pets without a readable stock are another shape of the answer. */
const maxUnreadable = 1000;
/** Of a number that makes no sense, in characters. */
const maxNumber = 40;

/**
 * The decoder of what the scanner of a list can't read by itself, the same that reads a whole answer; it words what is wrong.
 * @param onUnreadable is given items whose quantity is a number that can't be held exactly. Without it they are faults
 */
export function exactDecoder(operation: Operation, onUnreadable?: (item: UnreadableItem) => void) {
  let unreadable = 0;
  const invalidAt = (offset: number, cause?: unknown) =>
    nonsense(operation, `is not valid JSON at byte ${offset}`, cause);
  return {
    /**
     * @param index how many items are before it
     * @param offset where in the body it begins
     * @returns undefined if the item is to be left out
     * @throws FailureError
     */
    item(bytes: Uint8Array, index: number, offset: number): InventoryItem | undefined {
      const text = decodeUtf8(bytes, true);
      try {
        const item = readItem(parseJson(text), operation, `item ${index + 1} of `);
        if (!('problem' in item)) return item;
        unreadable += 1;
        if (onUnreadable === undefined || unreadable > maxUnreadable)
          throw unreadableQuantity(item, operation, `item ${index + 1} of `);
        onUnreadable(item);
        return undefined;
      } catch (error) {
        if (error instanceof TooManyValues) throw invalidAt(offset, error);
        if (!(error instanceof SyntaxError)) throw error;
        throw invalidAt(offset + Buffer.byteLength(text.slice(0, faultPosition(error))), error);
      }
    },
    /** A body that begins with something else than a list. @throws FailureError always */
    other(bytes: Uint8Array): never {
      decodeItems(decodeJson(decodeUtf8(bytes), operation), operation);
      throw nonsense(operation, 'is not an array of inventory items');
    },
    /** @param index how many items are before one that is longer than any item */
    tooLong: (index: number) => tooLong(`Item ${index + 1} of the answer to ${operation.name}`, maxBodyBytes.item),
    /** The error for a byte that has no place there. */
    unexpected: invalidAt,
    /** The error for a list that ends before it is closed. */
    cutOff: (length: number) =>
      nonsense(operation, `is not valid JSON: it ends in the middle, after ${grouped(length)} bytes`),
  };
}

export type ExactDecoder = ReturnType<typeof exactDecoder>;

/** Where in the text the parser stumbled, in characters; 0 if it does not tell. */
function faultPosition({ message }: SyntaxError): number {
  return Number(/ at position (\d+)$/.exec(message)?.[1] ?? 0);
}

/** An item that is spelled in the shortest way, as most are: nothing of it has to be decoded, and each number is exact. */
const plainItem = /^\{"petId":(0|[1-9]\d{0,17}),"quantity":(0|[1-9]\d{0,14}),"status":"([a-z]*)"\}$/;

/** Reads an answer that is one item. @throws FailureError if it is none */
export function decodeItemOf(bytes: Uint8Array, operation: Operation): InventoryItem {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const [, petId, quantity, status] = plainItem.exec(text) ?? [];
  if (petId !== undefined && status !== undefined) return { petId: BigInt(petId), quantity: Number(quantity), status };
  return decodeItem(decodeJson(decodeUtf8(bytes), operation), operation);
}

/** @throws FailureError that names the field that is missing, of the wrong type, or out of range */
function decodeItem(value: Json, operation: Operation, where = ''): InventoryItem {
  const item = readItem(value, operation, where);
  if ('problem' in item) throw unreadableQuantity(item, operation, where);
  return item;
}

/** @throws FailureError that names the field that is missing or of the wrong type */
function readItem(value: Json, operation: Operation, where: string): InventoryItem | UnreadableItem {
  if (!isJsonObject(value)) throw nonsense(operation, `has no object for ${where}the inventory item`);
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
  return { petId, status, number: shown, nearest, problem: isFraction(nearest) ? 'not an integer' : 'out of range' };
}

/** Whether a number that is no safe integer has a fraction; one that is too large for that to matter has none. */
function isFraction(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

function unreadableQuantity({ petId, number, problem }: UnreadableItem, operation: Operation, where: string) {
  const what = `"quantity" in ${where}the answer is ${number} for pet ${petId}, which is ${problem}`;
  return nonsense(operation, `makes no sense: ${what}`);
}

function wrongField(field: string, type: string, value: Json | undefined, operation: Operation, where: string) {
  const problem = value === undefined ? 'is missing' : `is not ${type}`;
  return nonsense(operation, `makes no sense: "${field}" in ${where}the answer ${problem}`);
}

function nonsense(operation: Operation, what: string, cause?: unknown): FailureError {
  const advice = operation.experimental
    ? '. This operation is marked experimental: the service may have changed its shape'
    : '';
  return new FailureError(`The answer to ${operation.name} ${what}${advice}`, { cause });
}
