import type { ItemColumns, StatusNames } from '../../inventory/item-columns.ts';
import { byte, Fragment, skipSpace, textEnd, unread } from './bytes.ts';
import { readInteger } from './integers.ts';
import { hashOf, NameReader, NameSet, spells } from './names.ts';
import { ValueSkipper } from './value-ends.ts';

/** The bytes before each value, if the service has added no fields. */
const beforePetId = new Fragment('{"petId":');
const beforeQuantity = new Fragment(',"quantity":');
const beforeStatus = new Fragment(',"status":');

/** The required fields of an item, as bits. */
const petId = 1;
const quantity = 2;
const status = 4;
const allFields = petId | quantity | status;
/** Any other field. */
const unknown = 0;

const petIdName = knownName('petId');
const quantityName = knownName('quantity');
const statusName = knownName('status');

function knownName(name: string) {
  return { name, hash: hashOf(name), quoted: new Fragment(`"${name}"`) };
}

/**
 * Reads any valid item straight from bytes into columns, without creating a string or an object. The three fields may
 * be in any order and spelling; the values of other fields are only checked. It gives up at anything else: no item, an
 * item that may repeat a field, very deep nesting, or an incomplete item. The exact decoder then decides which.
 */
export class ItemReader {
  readonly #statuses = new StatusReader();
  readonly #name = new NameReader();
  /** The names of unknown fields. */
  readonly #names = new NameSet();
  readonly #values = new ValueSkipper(this.#names);
  /** The end of the name that `#field` has read. */
  #nameEnd = 0;

  constructor(readonly columns: ItemColumns) {}

  /**
   * Appends the item whose brace is at `start`. The last byte must be followed by a zero byte, and that by as many
   * bytes of any value as the longest name has.
   * @param view a view of the same bytes
   * @returns the end of the item, or `unread` if nothing was appended
   */
  read(bytes: Uint8Array, view: DataView, start: number): number {
    const { columns } = this;
    if (!beforePetId.isAt(view, start)) return this.#members(bytes, view, start, 0);
    const idEnd = readInteger(bytes, start + beforePetId.length, columns, true);
    // White space may precede the number.
    if (idEnd === unread) return this.#members(bytes, view, start, 0);
    if (!beforeQuantity.isAt(view, idEnd)) return this.#members(bytes, view, idEnd, petId);
    const quantityEnd = readInteger(bytes, idEnd + beforeQuantity.length, columns, false);
    if (quantityEnd === unread) return this.#members(bytes, view, idEnd, petId);
    if (!beforeStatus.isAt(view, quantityEnd)) return this.#members(bytes, view, quantityEnd, petId | quantity);
    const statusEnd = this.#status(bytes, quantityEnd + beforeStatus.length);
    if (statusEnd === unread) return this.#members(bytes, view, quantityEnd, petId | quantity);
    if (bytes[statusEnd] !== byte.closeBrace) return this.#members(bytes, view, statusEnd, allFields);
    columns.length += 1;
    return statusEnd + 1;
  }

  /**
   * Continues where an item begins or a value has ended.
   * @param fields the fields read so far
   */
  #members(bytes: Uint8Array, view: DataView, start: number, fields: number): number {
    this.#names.startItem();
    let seen = fields;
    let at = skipSpace(bytes, start);
    // A field follows the brace like it follows a comma.
    for (let before: number | undefined = fields === 0 ? byte.comma : bytes[at]; before === byte.comma; ) {
      at = skipSpace(bytes, at + 1);
      const field = this.#field(bytes, view, at);
      if (field === unread || (seen & field) !== 0) return unread;
      seen |= field;
      at = skipSpace(bytes, this.#nameEnd);
      if (bytes[at] !== byte.colon) return unread;
      at = this.#value(bytes, skipSpace(bytes, at + 1), field);
      if (at === unread) return unread;
      at = skipSpace(bytes, at);
      before = bytes[at];
    }
    if (bytes[at] !== byte.closeBrace || seen !== allFields) return unread;
    this.columns.length += 1;
    return at + 1;
  }

  /**
   * Reads a name.
   * @returns its field, or `unread` if it is invalid, or may be a repetition
   */
  #field(bytes: Uint8Array, view: DataView, start: number): number {
    if (petIdName.quoted.isAt(view, start)) return this.#plainName(start, petIdName, petId);
    if (quantityName.quoted.isAt(view, start)) return this.#plainName(start, quantityName, quantity);
    if (statusName.quoted.isAt(view, start)) return this.#plainName(start, statusName, status);
    this.#nameEnd = this.#name.read(bytes, start);
    if (this.#nameEnd === unread) return unread;
    const { hash } = this.#name;
    if (hash === petIdName.hash && spells(bytes, start, petIdName.name)) return petId;
    if (hash === quantityName.hash && spells(bytes, start, quantityName.name)) return quantity;
    if (hash === statusName.hash && spells(bytes, start, statusName.name)) return status;
    return this.#names.add(0, hash) ? unknown : unread;
  }

  #plainName(start: number, { quoted }: { readonly quoted: Fragment }, field: number): number {
    this.#nameEnd = start + quoted.length;
    return field;
  }

  #value(bytes: Uint8Array, start: number, field: number): number {
    if (field === unknown) return this.#values.end(bytes, start);
    return field === status ? this.#status(bytes, start) : readInteger(bytes, start, this.columns, field === petId);
  }

  #status(bytes: Uint8Array, start: number): number {
    const { statusCodes, statuses, length } = this.columns;
    const end = this.#statuses.read(bytes, start, statuses);
    statusCodes[length] = this.#statuses.code;
    return end;
  }
}

/** Both are powers of two. */
const beginnings = 256;
const spellings = 4096;
/** Longer texts, in bytes, are converted to strings each time. */
const longest = 256;

/** A status as it was written, including its quotes. */
interface Spelling {
  readonly bytes: Uint8Array;
  readonly code: number;
}

/**
 * Finds the code of a status by its bytes. There are few statuses and many items, so each spelling is converted to a
 * string only once and recognized by its bytes later. They are compared with the last spelling with the same beginning,
 * then looked up by a hash of all bytes.
 */
export class StatusReader {
  /** The code of the status that `read` has found. */
  code = 0;
  #names: StatusNames | undefined;
  readonly #byBeginning = new Array<Spelling | undefined>(beginnings).fill(undefined);
  readonly #byHash = new Map<number, Spelling>();

  /**
   * Reads the text whose opening quote is at `start`.
   * @returns the position after the closing quote, or `unread` if it is invalid or incomplete
   */
  read(bytes: Uint8Array, start: number, names: StatusNames): number {
    if (names !== this.#names) this.#forget(names);
    const slot = slotOf(bytes, start);
    const known = this.#byBeginning[slot];
    if (known === undefined || !startsWith(bytes, start, known.bytes)) return this.#lookUp(bytes, start, slot, names);
    this.code = known.code;
    return start + known.bytes.length;
  }

  #forget(names: StatusNames): void {
    this.#names = names;
    this.#byBeginning.fill(undefined);
    this.#byHash.clear();
  }

  #lookUp(bytes: Uint8Array, start: number, slot: number, names: StatusNames): number {
    const end = bytes[start] === byte.quote ? textEnd(bytes, start) : unread;
    if (end === unread) return unread;
    if (end - start > longest) {
      this.code = names.codeOf(decode(bytes, start, end));
      return end;
    }
    const hashSlot = spellingHash(bytes, start, end) & (spellings - 1);
    let spelling = this.#byHash.get(hashSlot);
    if (spelling === undefined || !startsWith(bytes, start, spelling.bytes)) {
      spelling = { bytes: bytes.slice(start, end), code: names.codeOf(decode(bytes, start, end)) };
      this.#byHash.set(hashSlot, spelling);
    }
    this.#byBeginning[slot] = spelling;
    this.code = spelling.code;
    return end;
  }
}

/** Decodes a checked text, from its opening quote to after its closing quote. */
function decode(bytes: Uint8Array, start: number, end: number): string {
  const inner = Buffer.from(bytes.buffer, bytes.byteOffset + start + 1, end - start - 2).toString();
  return inner.includes('\\') ? (JSON.parse(`"${inner}"`) as string) : inner;
}

function slotOf(bytes: Uint8Array, start: number): number {
  return ((bytes[start + 1] ?? 0) * 31 + (bytes[start + 2] ?? 0)) & (beginnings - 1);
}

function spellingHash(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}

function startsWith(bytes: Uint8Array, start: number, known: Uint8Array): boolean {
  for (let index = 0; index < known.length; index += 1) {
    if (bytes[start + index] !== known[index]) return false;
  }
  return true;
}
