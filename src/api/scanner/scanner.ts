import { batchSize, ItemColumns, StatusNames } from '../../inventory/item-columns.ts';
import type { FailureError } from '../../shared/errors.ts';
import { maxBodyBytes } from '../body.ts';
import type { ExactDecoder } from '../decode.ts';
import { byte, skipSpace, UnreadBytes, unread } from './bytes.ts';
import { ItemReader } from './item-reader.ts';
import { ExtentFinder } from './value-ends.ts';

/** The part of a list that may come next. */
type State =
  /** Before the opening bracket. */
  | 'list'
  /** Behind it: an item or the closing bracket. */
  | 'first'
  /** Behind a comma: an item. */
  | 'item'
  /** Within an item that the reader has given up at: not here to its end, or not an item. */
  | 'inItem'
  /** Behind an item: a comma or the closing bracket. */
  | 'behind'
  /** Behind the closing bracket: nothing but white space. */
  | 'end'
  /** It is no list: the rest is only gathered. */
  | 'other';

/** In bytes: longer than an item to which the service has added nothing. */
const shortItem = 128;
/** A body that is no list is gathered up to this many bytes, for a message. */
const maxOther = 1024 * 1024;
/** So many statuses are not statuses any more: they are forgotten from time to time, so that the memory stays flat. */
const maxStatuses = 1000;
/** Nor are texts of so many characters together: then a batch is full, however few items it has. */
const maxCharacters = 4 * 1024 * 1024;

/**
 * Reads the list of items out of the bytes of a body as they come, into batches of columns. It is a state machine over
 * the structure of the list: bracket, item, comma, item, …, bracket. Each item is read in one of two ways:
 *
 * - `ItemReader` takes any legal item from bytes to columns without making a string or an object.
 * - What it gives up at is not an item, or cut off by the end of a chunk. `ExtentFinder` looks for the end of the item, in
 *   as many chunks as it takes. Once it is there, an item that had been cut off is tried once more; what is still not read
 *   goes to the exact decoder, which says what is wrong.
 *
 * Bytes of an item stay in the window until the item has ended, so that chunks may end anywhere. Since every item is legal
 * JSON by itself and what is between them is checked here, a list is accepted exactly if the parser would have accepted
 * all of it.
 *
 * ```ts
 * for (const chunk of chunks) { scanner.add(chunk); while (scanner.fill()) use(scanner.batch); }
 * scanner.finish(); use(scanner.batch);
 * ```
 */
export class InventoryScanner {
  /** The items that `fill` has read. Emptied when it goes on. */
  readonly batch: ItemColumns;
  readonly #window = new UnreadBytes();
  readonly #items: ItemReader;
  readonly #extent = new ExtentFinder();
  readonly #exact: ExactDecoder;
  #state: State = 'list';
  /** Items in the batches before this one. */
  #before = 0;
  /** Items that were left out. */
  #leftOut = 0;
  /** Items in this batch once it is full: whoever uses it may narrow it. */
  #filled = 0;
  /** Within an item: up to where its end has been looked for, counted from its beginning. */
  #searched = 0;
  #full = false;

  constructor(exact: ExactDecoder, size = batchSize) {
    this.#exact = exact;
    this.batch = new ItemColumns(size);
    this.#items = new ItemReader(this.batch);
  }

  /** How many bytes of the body have come. */
  get received(): number {
    return this.#window.received;
  }

  add(chunk: Uint8Array): void {
    this.#window.add(chunk);
  }

  /**
   * Reads on until the batch is full or the bytes are used up.
   * @returns false if the bytes are used up
   * @throws FailureError if the body is no list of items
   */
  fill(): boolean {
    if (this.#full) this.#startBatch();
    const { batch } = this;
    while (batch.length < batch.capacity && batch.statuses.characters < maxCharacters) {
      if (!this.#step()) return false;
    }
    this.#full = true;
    this.#filled = batch.length;
    return true;
  }

  /**
   * To be called when the body has ended and `fill` has used up its bytes. The batch holds what is left.
   * @throws FailureError if the list has not ended
   */
  finish(): void {
    const { bytes, at, end } = this.#window;
    if (this.#state === 'list' || this.#state === 'other') this.#exact.other(bytes.subarray(at, end));
    if (this.#state !== 'end') throw this.#exact.cutOff(this.#window.received);
  }

  #startBatch(): void {
    const { batch } = this;
    this.#full = false;
    this.#before += this.#filled;
    batch.length = 0;
    const { size, characters } = batch.statuses;
    if (size > maxStatuses || characters >= maxCharacters) batch.statuses = new StatusNames();
  }

  /** Takes one step. @returns whether there were bytes for it */
  #step(): boolean {
    const window = this.#window;
    if (this.#state === 'inItem') return this.#exactItem();
    if (this.#state === 'list' && !this.#skipMark()) return false;
    window.at = skipSpace(window.bytes, window.at);
    if (window.at === window.end) return false;
    const value = window.bytes[window.at];
    switch (this.#state) {
      case 'list':
        if (value !== byte.openBracket) this.#state = 'other';
        else this.#pass('first');
        return true;
      case 'first':
        if (value === byte.closeBracket) this.#pass('end');
        else return this.#item();
        return true;
      case 'item':
        return this.#item();
      case 'behind':
        if (value === byte.comma) this.#pass('item');
        else if (value === byte.closeBracket) this.#pass('end');
        else throw this.#unexpected();
        return true;
      case 'other':
        if (window.end - window.at > maxOther) this.#exact.other(window.bytes.subarray(window.at, window.end));
        return false;
      default:
        throw this.#unexpected();
    }
  }

  #pass(next: State): void {
    this.#window.at += 1;
    this.#state = next;
  }

  /**
   * Reads items with nothing but commas and white space between them, up to one that the reader gives up at.
   * @returns false if the item is cut off, and short: it is read once more of it has come
   */
  #item(): boolean {
    const { batch } = this;
    const window = this.#window;
    const { bytes, view } = window;
    let { at } = window;
    if (bytes[at] === byte.openBrace && this.#isCutOff(at)) return false;
    let next: State = 'inItem';
    while (bytes[at] === byte.openBrace) {
      const end = this.#items.read(bytes, view, at);
      if (end === unread) break;
      at = end;
      next = 'behind';
      if (batch.length === batch.capacity) break;
      const comma = skipSpace(bytes, at);
      if (bytes[comma] !== byte.comma) break;
      const brace = skipSpace(bytes, comma + 1);
      if (bytes[brace] !== byte.openBrace) break;
      at = brace;
      next = 'inItem';
    }
    window.at = at;
    this.#state = next;
    this.#searched = 0;
    this.#extent.restart();
    return true;
  }

  #isCutOff(at: number): boolean {
    const { bytes, end } = this.#window;
    return end - at < shortItem && !bytes.subarray(at, end).includes(byte.closeBrace);
  }

  #exactItem(): boolean {
    const window = this.#window;
    const { bytes, at, end } = window;
    const itemEnd = this.#extent.find(bytes, at + this.#searched, end);
    const index = this.#before + this.batch.length + this.#leftOut;
    if ((itemEnd < 0 ? end : itemEnd) - at > maxBodyBytes.item) throw this.#exact.tooLong(index);
    if (itemEnd < 0) {
      this.#searched = end - at;
      return false;
    }
    const wasCutOff = this.#searched > 0;
    if (!wasCutOff || bytes[at] !== byte.openBrace || this.#items.read(bytes, window.view, at) === unread) {
      const item = this.#exact.item(bytes.subarray(at, itemEnd), index, window.offset(at));
      if (item === undefined) this.#leftOut += 1;
      else this.batch.append(item);
    }
    window.at = itemEnd;
    this.#state = 'behind';
    return true;
  }

  /** Only the beginning may have a byte order mark. @returns false if it is not here to its end */
  #skipMark(): boolean {
    const window = this.#window;
    const { bytes, at, end } = window;
    if (window.offset(at) > 0 || bytes[at] !== 0xef) return true;
    if (end - at < 3) return false;
    if (bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf) window.at += 3;
    return true;
  }

  #unexpected(): FailureError {
    return this.#exact.unexpected(this.#window.offset(this.#window.at));
  }
}
