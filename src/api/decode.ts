import {
  type FieldName,
  fieldNames,
  type InventoryItem,
  itemFields,
  itemOf,
  readField,
  wrongType,
} from '../inventory/item-fields.ts';
import { counted, unreadableText } from '../inventory/items.ts';
import { FailureError } from '../shared/errors.ts';
import {
  isJsonObject,
  type Json,
  type JsonBounds,
  JsonNumber,
  parseJson,
  responseBounds,
  skipSpace,
  TooManyValues,
} from '../shared/json.ts';
import { decodeUtf8, tooLong } from './body.ts';

const numberFields = fieldNames.filter((name) => itemFields[name].kind.isNumber);

/** The bounds of one item. A field that petstock does not use may appear several times, with any values. */
export const itemBounds: JsonBounds = { ...responseBounds, unique: new Set<string>(fieldNames) };

/** The origin of a response, for messages about an invalid one. */
export interface Origin {
  /** The request, like `GET /inventory`, or the name of a file with such a list. */
  readonly name: string;
  /** Whether the service marks the operation as experimental, so that the response may change its shape. */
  readonly experimental?: boolean;
}

/** An item of which every quantity can be computed with. */
export interface WrittenItem extends InventoryItem {
  readonly quantity: number;
}

/** @throws FailureError that names the operation, if the text is not JSON or exceeds the bounds */
export function decodeJson(text: string, operation: Origin, bounds?: JsonBounds): Json {
  try {
    return parseJson(text, bounds);
  } catch (cause) {
    if (cause instanceof TooManyValues) throw nonsense(operation, `is not valid: it ${cause.message}`, cause);
    const what =
      text.trim() === '' ? 'is empty' : text.trimStart().startsWith('<') ? 'is HTML, not JSON' : 'is not valid JSON';
    throw nonsense(operation, what, cause);
  }
}

/**
 * Matches, in a field that has a number, a number that JavaScript may not have exactly: one of more than 15 characters,
 * or one with a long exponent, which may be rounded to 0; and the quote of a string in its place. The quotes around the
 * name are never part of a longer text: there they would have a backslash in front.
 */
const inexactNumber = new RegExp(
  String.raw`("(?:${numberFields.join('|')})"\s*:\s*)([-+.\deE]{16,}|[-.\d]+[eE][-+]?\d{3,}|")`,
  'g',
);

/**
 * Returns the elements of a list whose text, without its brackets, is given. Numbers of fields that may be inexact are
 * strings. Undefined if the text is not a number of whole elements, or has a string in place of a field's number.
 */
export function parseElements(text: string): readonly unknown[] | undefined {
  try {
    // A quote in front of a string makes the text invalid.
    return JSON.parse(`[${text}]`.replace(inexactNumber, '$1"$2"')) as unknown[];
  } catch {
    return undefined;
  }
}

/** Returns the decoder for the items of one list, which counts them. It also creates the errors for an invalid list. */
export function itemDecoder(operation: Origin) {
  let count = 0;
  return {
    /**
     * Returns the items of elements from `parseElements`; undefined if they have to be read exactly.
     * @param text the text of the elements
     */
    regular(text: string, elements: readonly unknown[]): InventoryItem[] | undefined {
      if (!hasEachNameOnce(text, elements)) return undefined;
      const items: InventoryItem[] = [];
      for (const element of elements) {
        const item = regularItem(element);
        if (item === undefined) return undefined;
        items.push(item);
      }
      count += items.length;
      return items;
    },
    /** @throws FailureError if the value is not a valid item */
    exact(value: Json): InventoryItem {
      count += 1;
      return decodeItem(value, operation, `item ${count} of `);
    },
    /** Throws the FailureError for a body that is not a list. */
    other(text: string): never {
      decodeJson(text.replace(/^\ufeff/, ''), operation);
      throw nonsense(operation, 'is not an array of inventory items');
    },
    tooLong: (most: number) => tooLong(`Item ${count + 1} of the response to ${operation.name}`, most),
    /** @param offset a position in the body, in bytes */
    invalidAt: (offset: number, cause?: unknown) => nonsense(operation, `is not valid JSON at byte ${offset}`, cause),
    cutOff: (length: number) =>
      nonsense(operation, `is not valid JSON: it is cut off after ${counted(length, 'byte')}`),
  };
}

export type ItemDecoder = ReturnType<typeof itemDecoder>;

/** Returns the item of an element whose values are usual; undefined if one of them has to be read exactly. */
function regularItem(element: unknown): InventoryItem | undefined {
  if (typeof element !== 'object' || element === null) return undefined;
  const json = element as Readonly<Record<string, unknown>>;
  let isRegular = true;
  const item = itemOf(<Name extends FieldName>(name: Name) => {
    const value = regularValue(name, json[name]);
    if (value === wrongType) isRegular = false;
    return value as InventoryItem[Name];
  });
  return isRegular ? item : undefined;
}

function regularValue(name: FieldName, json: unknown): unknown {
  if (typeof json === 'number' && !Number.isSafeInteger(json)) return wrongType;
  if (typeof json !== 'string' || !itemFields[name].kind.isNumber) return readField(name, json as Json | number);
  // `parseElements` has put quotes around the number, whatever it is.
  return /^-?0\d/.test(json) ? wrongType : readField(name, new JsonNumber(json));
}

/** Reports whether no object has the name of a field twice, as far as a text shows that; JSON.parse hides it. */
function hasEachNameOnce(text: string, elements: readonly unknown[]): boolean {
  if (hasEscapedName(text)) return false;
  return fieldNames.every((name) => {
    // Each item has the name, so that no more texts with this end than items means that none has it twice. The quote in
    // front is left out at first, because a search for a rarer character takes half the time.
    if (occurrences(text, `${name}"`) === elements.length) return true;
    return occurrences(text, `"${name}"`) === membersOf(elements, name);
  });
}

function occurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}

/** Returns how many objects in a value have a member of this name. */
function membersOf(value: unknown, name: string): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = !Array.isArray(value) && Object.hasOwn(value, name) ? 1 : 0;
  return Object.values(value).reduce((sum, member) => sum + membersOf(member, name), own);
}

/** Reports whether a name is written with an escape like `\u0064`, so that it may be that of a field. */
function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf('\\u'); at >= 0; at = text.indexOf('\\u', at)) {
    at = text.indexOf('"', at) + 1;
    while (isEscaped(text, at - 1)) at = text.indexOf('"', at) + 1;
    if (text[skipSpace(text, at)] === ':') return true;
  }
  return false;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}

/**
 * Returns the item that the service has after a write.
 * @throws FailureError if the response is not UTF-8, not JSON, or not a single valid item with a safe quantity
 */
export function decodeItemOf(bytes: Uint8Array, operation: Origin): WrittenItem {
  const item = decodeItem(decodeJson(decodeUtf8(bytes), operation, itemBounds), operation);
  const { petId, quantity } = item;
  if (typeof quantity === 'number') return { ...item, quantity };
  throw nonsense(operation, `is not valid: ${unreadableText(petId, quantity)}`);
}

/** @throws FailureError if the value is not an object, or a field is missing or of the wrong type */
function decodeItem(value: Json, operation: Origin, where = ''): InventoryItem {
  if (!isJsonObject(value))
    throw nonsense(operation, `is not valid: ${where === '' ? 'it' : where.replace(/ of $/, '')} is not an object`);
  return itemOf(<Name extends FieldName>(name: Name) => {
    const found = readField(name, value[name]);
    if (found === wrongType) throw wrongField(name, itemFields[name].kind.json, value[name], operation, where);
    return found as InventoryItem[Name];
  });
}

function wrongField(field: string, type: string, value: Json | undefined, operation: Origin, where: string) {
  const problem = value === undefined ? 'is missing' : `is not ${type}`;
  return nonsense(operation, `is not valid: "${field}" in ${where}the response ${problem}`);
}

function nonsense(operation: Origin, what: string, cause?: unknown): FailureError {
  const advice = operation.experimental
    ? '. The service calls this operation experimental, so it may have changed its response'
    : '';
  return new FailureError(`The response to ${operation.name} ${what}${advice}`, { cause });
}
