import { batchSize, ItemColumns, StatusNames } from '../../inventory/item-columns.ts';
import type { FailureError } from '../../shared/errors.ts';
import { maxBodyBytes } from '../body.ts';
import type { ExactDecoder } from '../decode.ts';
import { byte, skipSpace, UnreadBytes, unread } from './bytes.ts';
import { ItemReader } from './item-reader.ts';
import { ExtentFinder } from './value-ends.ts';

/** The part of a list that is expected next. */
type State =
  /** Before the opening bracket. */
  | 'list'
  /** After the bracket: an item or the closing bracket. */
  | 'first'
  /** After a comma: an item. */
  | 'item'
  /** Within an item that the reader has given up at: it is incomplete or invalid. */
  | 'inItem'
  /** After an item: a comma or the closing bracket. */
  | 'behind'
  /** After the closing bracket: only white space. */
  | 'end'
  /** Not a list: the rest is only collected. */
  | 'other';

/** In bytes: longer than an item without additional fields. */
const shortItem = 128;
/** Maximum number of bytes of a body that is not a list to collect for a message. */
const maxOther = 1024 * 1024;
/** If there are more statuses than this, they are cleared, so that memory stays bounded. */
const maxStatuses = 1000;
/** Once the statuses of a batch have this many characters together, the batch counts as full. */
const maxCharacters = 4 * 1024 * 1024;

/**
 * Reads the items of a list from the bytes of a body as they arrive, into batches of columns. It is a state machine
 * over the structure of the list: bracket, item, comma, item, …, bracket. Each item is read in one of two ways:
 *
 * - `ItemReader` converts any valid item from bytes to columns without creating a string or an object.
 * - If it gives up, the item is invalid or cut off by the end of a chunk. `ExtentFinder` then searches the end of the
 * item, in as many chunks as needed. An item that was cut off is read once more; if that fails, too, it goes to the
 * exact decoder, which describes the error.
 *
 * The bytes of an item stay in the window until the item has ended, so chunks may end anywhere. Each item is checked as
 * JSON of its own, and everything between items is checked here, so a list is accepted exactly if a parser would accept
 * all of it.
 *
 * ```ts
 * for (const chunk of chunks) {
 * scanner.add(chunk);
 * while (scanner.fill()) use(scanner.batch);
 * }
 * scanner.finish();
 * use(scanner.batch);
 * ```
 */
export class InventoryScanner {
  /** The items read by `fill`. Emptied when reading continues. */
  readonly batch: ItemColumns;
  readonly #window = new UnreadBytes();
  readonly #items: ItemReader;
  readonly #extent = new ExtentFinder();
  readonly #exact: ExactDecoder;
  #state: State = 'list';
  /** Number of items in earlier batches. */
  #before = 0;
  /** Number of items that were left out. */
  #leftOut = 0;
  /** Number of items in this batch when it was full; its user may have removed some. */
  #filled = 0;
  /** Within an item: how many of its bytes have been searched for its end. */
  #searched = 0;
  #full = false;

  constructor(exact: ExactDecoder, size = batchSize) {
    this.#exact = exact;
    this.batch = new ItemColumns(size);
    this.#items = new ItemReader(this.batch);
  }

  /** Number of bytes received so far. */
  get received(): number {
    return this.#window.received;
  }

  add(chunk: Uint8Array): void {
    this.#window.add(chunk);
  }

  /**
   * Reads until the batch is full or the bytes are used up.
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
   * Call this when the body has ended and `fill` has used up its bytes. The batch then holds the rest.
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

  /**
   * Takes one step.
   * @returns whether there were enough bytes
   */
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
   * Reads items separated only by commas and white space, up to one that the reader gives up at.
   * @returns false if the item is short and cut off: it is read again when more bytes have arrived
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

  /**
   * Skips a byte order mark, which is only allowed at the beginning.
   * @returns false if it is incomplete
   */
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
