import type { ItemColumns } from '../../inventory/item-columns.ts';
import { byte, Fragment, skipSpace, unread } from './bytes.ts';
import { readInteger } from './integers.ts';
import { hashOf, NameReader, NameSet, spells } from './names.ts';
import { StatusReader } from './status-reader.ts';
import { ValueSkipper } from './value-ends.ts';

/** The bytes before each value if the service has added nothing. */
const beforePetId = new Fragment('{"petId":');
const beforeQuantity = new Fragment(',"quantity":');
const beforeStatus = new Fragment(',"status":');

/** The fields that an item must have, as bits. */
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
 * Reads any legal item straight from bytes into columns, without a string or an object: the three fields in any order and
 * spelling, and others, whose values are only checked. What it gives up at is no item, or an item that may have the same
 * field twice, or is nested very deeply, or is not there to its end; it is for the exact decoder to say which.
 */
export class ItemReader {
  readonly #statuses = new StatusReader();
  readonly #name = new NameReader();
  /** The names of unknown fields. */
  readonly #names = new NameSet();
  readonly #values = new ValueSkipper(this.#names);
  /** Where the name that `#field` has read ends. */
  #nameEnd = 0;

  constructor(readonly columns: ItemColumns) {}

  /**
   * Appends the item whose brace is at `start`. The last byte must be followed by a zero byte, and that by as many bytes
   * of any kind as the longest name has.
   *
   * @param view of the same bytes
   * @returns where the item ends, or `unread`; then nothing was appended
   */
  read(bytes: Uint8Array, view: DataView, start: number): number {
    const { columns } = this;
    if (!beforePetId.isAt(view, start)) return this.#members(bytes, view, start, 0);
    const idEnd = readInteger(bytes, start + beforePetId.length, columns, true);
    // White space may stand before the number.
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
   * Reads on where an item begins or a value has ended.
   * @param fields those that were read
   */
  #members(bytes: Uint8Array, view: DataView, start: number, fields: number): number {
    this.#names.startItem();
    let seen = fields;
    let at = skipSpace(bytes, start);
    // A field follows the brace as it does a comma.
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

  /** Reads a name. @returns its field, or `unread` if it is no name, or the item may have had it */
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
