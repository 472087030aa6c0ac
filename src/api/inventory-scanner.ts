import { batchSize, ItemColumns, StatusNames } from '../inventory/item-columns.ts';
import { skipSpace } from '../shared/json-text.ts';
import { maxBodyBytes, notUtf8 } from './body.ts';
import type { ExactDecoder } from './decode.ts';

/** The part of a list that may come next. */
type State =
  /** Before the opening bracket. */
  | 'list'
  /** Behind it: an item or the closing bracket. */
  | 'first'
  /** Behind a comma: an item. */
  | 'item'
  /** Behind an item: a comma or the closing bracket. */
  | 'behind'
  /** Behind the closing bracket: nothing but white space. */
  | 'end'
  /** It is no list: the rest is only gathered. */
  | 'other';

/** Bytes that are made a string at a time: a longer one outlives what is read of it. */
const pieceSize = 64 * 1024;
/** A body that is no list is gathered up to this many characters, for a message. */
const maxOther = 1024 * 1024;
/** So many statuses are not statuses any more: they are forgotten from time to time, so that the memory stays flat. */
const maxStatuses = 1000;
/** Nor are texts of so many characters together: then a batch is full, however few items it has. */
const maxCharacters = 4 * 1024 * 1024;

/** An item to which the service has added nothing, with what follows it, in any white space: its id, quantity and status. */
const usualItem = new RegExp(
  [
    ...['\\{', '"petId"', ':', '(-?)(0|[1-9]\\d{0,18})', ',', '"quantity"', ':', '(-?(?:0|[1-9]\\d{0,14}))', ','],
    ...['"status"', ':', '"([^"\\\\\\x00-\\x1f]*)"', '\\}', '[,\\]]'],
  ].join('[ \\n\\r\\t]*'),
  'y',
);
/** A member of an item whose value is a text without escapes, a number or a word, with what follows it. */
const flatMember = new RegExp(
  [
    ...['', '"([^"\\\\\\x00-\\x1f]*)"', ':'],
    '(?:"([^"\\\\\\x00-\\x1f]*)"|(-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][-+]?\\d+)?|true|false|null))',
    '([,}])',
  ].join('[ \\n\\r\\t]*'),
  'y',
);
const wholeId = /^(-?)(0|[1-9]\d{0,18})$/;
const wholeQuantity = /^-?(?:0|[1-9]\d{0,14})$/;
/** An id with as many before its last nine digits, or more, may be none. */
const largestHead = 9_223_372_036;

/**
 * Reads the list of items out of the bytes of a body as they come, into batches of columns, and checks what is between the items. An item that
 * is written as most are is read by one pattern, one with other fields or in another order by a pattern for each field; any other goes to the
 * exact decoder once it is there to its end.
 */
export class InventoryScanner {
  readonly #batch: ItemColumns;
  readonly #exact: ExactDecoder;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** The text that has come. What is before `#at` was read. */
  #text = '';
  #at = 0;
  /** Bytes of the body before the text. */
  #before = 0;
  #state: State = 'list';
  /** Items before this batch, and those that were left out. */
  #earlier = 0;
  /** An item that had not ended is looked at again once so much of it is there, so that a long one takes no quadratic time. */
  #needed = 0;
  /** How many bytes of the body have come. */
  received = 0;

  constructor(exact: ExactDecoder, size = batchSize) {
    this.#exact = exact;
    this.#batch = new ItemColumns(size);
  }

  /**
   * Yields batches of the items that end in these bytes. Each is valid until the next is asked for, and may be narrowed meanwhile.
   * @param chunk undefined: the body has ended
   * @throws FailureError if the body is no list of items
   */
  *read(chunk: Uint8Array | undefined): Generator<ItemColumns> {
    for (let from = 0; chunk !== undefined && from < chunk.length; from += pieceSize) {
      yield* this.#readPiece(chunk.subarray(from, from + pieceSize));
    }
    if (chunk !== undefined) return;
    yield* this.#readPiece(undefined);
    const batch = this.#batch;
    if (this.#state === 'list' || this.#state === 'other') this.#exact.other(this.#text.slice(this.#at));
    if (this.#state !== 'end') throw this.#exact.cutOff(this.received);
    if (batch.length > 0) yield* this.#give();
  }

  *#readPiece(piece: Uint8Array | undefined): Generator<ItemColumns> {
    this.#add(piece);
    const batch = this.#batch;
    while (this.#step(piece === undefined)) {
      if (batch.length < batch.capacity && batch.statuses.characters < maxCharacters) continue;
      yield* this.#give();
    }
  }

  *#give(): Generator<ItemColumns> {
    const batch = this.#batch;
    this.#earlier += batch.length;
    yield batch;
    batch.length = 0;
    const { size, characters } = batch.statuses;
    if (size > maxStatuses || characters >= maxCharacters) batch.statuses = new StatusNames();
  }

  #add(chunk: Uint8Array | undefined): void {
    this.#before += Buffer.byteLength(this.#text.slice(0, this.#at));
    this.received += chunk?.length ?? 0;
    try {
      this.#text = this.#text.slice(this.#at) + this.#decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw notUtf8(cause);
    }
    this.#at = 0;
  }

  /** Takes one step. @returns whether there was text for it */
  #step(isLast: boolean): boolean {
    const text = this.#text;
    if (text.length - this.#at < this.#needed && !isLast) return false;
    // The beginning may have a byte order mark.
    if (this.#state === 'list' && this.#before + this.#at === 0 && text.startsWith('\ufeff')) this.#at = 1;
    this.#at = skipSpace(text, this.#at);
    if (this.#at === text.length) return false;
    const next = text[this.#at];
    switch (this.#state) {
      case 'list':
        if (next === '[') return this.#pass('first');
        this.#state = 'other';
        return true;
      case 'first':
        return next === ']' ? this.#pass('end') : this.#items();
      case 'item':
        return this.#items();
      case 'behind':
        if (next === ',') return this.#pass('item');
        if (next === ']') return this.#pass('end');
        throw this.#exact.unexpected(this.#offsetOf(this.#at));
      case 'other':
        if (text.length - this.#at > maxOther) this.#exact.other(text.slice(this.#at));
        return false;
      default:
        throw this.#exact.unexpected(this.#offsetOf(this.#at));
    }
  }

  #pass(next: State): true {
    this.#at += 1;
    this.#state = next;
    return true;
  }

  /** Returns where in the body a character is, in bytes. */
  #offsetOf(at: number): number {
    return this.#before + Buffer.byteLength(this.#text.slice(0, at));
  }

  /** Reads items up to one that is not flat, or does not end here, and that one. */
  #items(): boolean {
    const { length } = this.#batch;
    while (
      this.#state !== 'end' &&
      this.#batch.length < this.#batch.capacity &&
      (this.#usualItem() || this.#flatItem())
    ) {
      this.#state = this.#text[this.#at - 1] === ',' ? 'item' : 'end';
      this.#at = skipSpace(this.#text, this.#at);
    }
    return this.#batch.length > length || this.#anyItem();
  }

  #usualItem(): boolean {
    usualItem.lastIndex = this.#at;
    const [, sign, digits = '', quantity, status] = usualItem.exec(this.#text) ?? [];
    if (status === undefined || !this.#append(sign, digits, Number(quantity), status)) return false;
    this.#at = usualItem.lastIndex;
    return true;
  }

  #flatItem(): boolean {
    const text = this.#text;
    if (text[this.#at] !== '{') return false;
    const [words, others] = [new Map<string, string>(), new Map<string, string>()];
    flatMember.lastIndex = this.#at + 1;
    for (let follows = ','; follows === ','; ) {
      const [, name = '', word, other, next] = flatMember.exec(text) ?? [];
      // A name that is there twice is judged by the exact decoder.
      if (next === undefined || words.has(name) || others.has(name)) return false;
      if (word === undefined) others.set(name, other ?? '');
      else words.set(name, word);
      follows = next;
    }
    const end = skipSpace(text, flatMember.lastIndex);
    const [, sign, digits] = wholeId.exec(others.get('petId') ?? '') ?? [];
    const [quantity, status] = [others.get('quantity') ?? '', words.get('status')];
    if (digits === undefined || status === undefined || !wholeQuantity.test(quantity)) return false;
    if (!/[,\]]/.test(text.charAt(end)) || !this.#append(sign, digits, Number(quantity), status)) return false;
    this.#at = end + 1;
    return true;
  }

  /** Adds an item to the batch. @returns false if its id may be outside of int64 */
  #append(sign: string | undefined, digits: string, quantity: number, status: string): boolean {
    const head = digits.length > 9 ? Number(digits.slice(0, -9)) : 0;
    if (head >= largestHead) return false;
    const tail = Number(digits.slice(-9));
    this.#batch.appendParts(sign === '-' ? 0 - head : head, sign === '-' ? 0 - tail : tail, quantity, status);
    return true;
  }

  #anyItem(): boolean {
    if (',:]}'.includes(this.#text.charAt(this.#at))) throw this.#exact.unexpected(this.#offsetOf(this.#at));
    const index = this.#earlier + this.#batch.length;
    const found = this.#exact.item(this.#text, this.#at, index, (at) => this.#offsetOf(at));
    const { item, end = this.#text.length } = found ?? {};
    if (end - this.#at > maxBodyBytes.item) throw this.#exact.tooLong(index);
    this.#needed = found === undefined ? 2 * (end - this.#at) : 0;
    if (found === undefined) return false;
    if (item === undefined) this.#earlier += 1;
    else this.#batch.append(item);
    this.#at = end;
    this.#state = 'behind';
    return true;
  }
}
