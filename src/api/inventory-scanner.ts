import { batchSize, ItemColumns, StatusNames } from '../inventory/item-columns.ts';
import { skipSpace } from '../shared/json-text.ts';
import { maxBodyBytes, notUtf8 } from './body.ts';
import type { ExactDecoder } from './decode.ts';

/** The part of a list that may come next. */
type State =
  /** Before the opening bracket. */
  | 'list'
  /** After the opening bracket: an item or the closing bracket. */
  | 'first'
  /** After a comma: an item. */
  | 'item'
  /** After an item: a comma or the closing bracket. */
  | 'behind'
  /** After the closing bracket: only white space. */
  | 'end'
  /** The body is not a list: the rest is only collected. */
  | 'other';

/** Number of bytes converted to a string at a time. A longer string would stay in memory after its use. */
const pieceSize = 64 * 1024;
/** A body that is not a list is collected up to this many characters, for a message. */
const maxOther = 1024 * 1024;
/** If a batch has more status names than this, the next one begins without any, to save memory. */
const maxStatuses = 1000;
/** A batch whose status names have this many characters in total is full, however few items it has. */
const maxCharacters = 4 * 1024 * 1024;

const space = String.raw`[ \n\r\t]*`;
/** Matches text without escapes and braces, so that the next brace ends the item. */
const plain = String.raw`[^"{}\\\x00-\x1f]*`;
const value = String.raw`(?:"${plain}"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)`;
/** Matches a field that petstock doesn't use. */
const other = [`"(?!(?:petId|quantity|status)")${plain}"`, ':', value].join(space);
const others = `(?:${other}${space},${space})*`;
const status = `"(${plain})"(?:${space},${space}${other})*`;
/** Maximum length of a usual item in characters. A longer item goes to the exact decoder. */
const maxUsual = 2000;
/** Matches an item with its id, quantity and status in this order, and the character after the item. */
const usualItem = new RegExp(
  [
    ...[String.raw`\{`, `${others}"petId"`, ':', String.raw`(-?(?:0|[1-9]\d{0,18}))`, ','],
    ...[`${others}"quantity"`, ':', String.raw`(-?(?:0|[1-9]\d{0,14}))`, ','],
    ...[`${others}"status"`, ':', status, String.raw`\}`, String.raw`[,\]]`],
  ].join(space),
  'y',
);

/**
 * Reads a list of items from the bytes of a body as they arrive, into batches of columns, and checks the text between
 * the items. A usual item is read by one pattern. Any other item goes to the exact decoder once it is complete.
 */
export class InventoryScanner {
  readonly #batch: ItemColumns;
  readonly #exact: ExactDecoder;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** The received text, without parts that were dropped. Everything before `#at` has been read. */
  #text = '';
  #at = 0;
  /** Number of bytes of the body that precede the text. */
  #before = 0;
  #state: State = 'list';
  /** Number of items in earlier batches, and of all items that were left out so far. */
  #earlier = 0;
  /** Number of characters after `#at` without which an incomplete item is not read again, to avoid quadratic time. */
  #needed = 0;
  /** Number of bytes received. */
  received = 0;

  constructor(exact: ExactDecoder, size = batchSize) {
    this.#exact = exact;
    this.#batch = new ItemColumns(size);
  }

  /**
   * Yields the batches that these bytes fill, and at the end of the body the last one. Each batch is valid until the
   * next one is requested; until then, the reader may reduce it.
   * @param chunk undefined once the body has ended
   * @throws FailureError if the body is not a list of items
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

  /** @returns whether there was enough text for the step */
  #step(isLast: boolean): boolean {
    const text = this.#text;
    if (text.length - this.#at < this.#needed && !isLast) return false;
    // The body may begin with a byte order mark.
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

  /** Returns the position of a character in the body, in bytes. */
  #offsetOf(at: number): number {
    return this.#before + Buffer.byteLength(this.#text.slice(0, at));
  }

  /**
   * Reads items as long as the pattern matches. Reads a single other item only if the pattern matches none.
   * @returns whether there was enough text for one item
   */
  #items(): boolean {
    const { length } = this.#batch;
    while (this.#state !== 'end' && this.#batch.length < this.#batch.capacity && this.#usualItem()) {
      this.#state = this.#text[this.#at - 1] === ',' ? 'item' : 'end';
      this.#at = skipSpace(this.#text, this.#at);
    }
    return this.#batch.length > length || this.#anyItem();
  }

  #usualItem(): boolean {
    const end = this.#text.indexOf('}', this.#at);
    if (end < 0 || end - this.#at > maxUsual) return false;
    usualItem.lastIndex = this.#at;
    const [, digits = '', quantity, status] = usualItem.exec(this.#text) ?? [];
    if (status === undefined) return false;
    const petId = BigInt(digits);
    if (BigInt.asIntN(64, petId) !== petId) return false;
    this.#batch.append(petId, Number(quantity), status);
    this.#at = usualItem.lastIndex;
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
    else this.#batch.append(item.petId, item.quantity, item.status);
    this.#at = end;
    this.#state = 'behind';
    return true;
  }
}
