import { isUtf8 } from 'node:buffer';
import type { InventoryItem } from '../inventory/item-fields.ts';
import { endOfValue, isJsonObject, JsonSyntaxError, parseJsonAt, skipSpace, TooManyValues } from '../shared/json.ts';
import { notUtf8 } from './body.ts';
import { type ItemDecoder, itemBounds, itemDecoder, type Origin, parseElements } from './decode.ts';

/** Number of characters from which a part of a list is parsed: enough to make the cost of a part negligible. */
const usualPart = 32 * 1024;
/** Number of bytes converted to a string at a time. A longer string would stay in memory after its use. */
const pieceLength = 64 * 1024;
/** Maximum number of bytes that are kept because no item has ended yet. */
const maxKept = 16 * 1024 * 1024;
/** A body that is not a list is collected up to this many characters, for a message. */
const maxOther = 1024 * 1024;
/** Maximum number of places at which the end of a part is tried. */
const maxTries = 8;

/**
 * Yields the items of a JSON list in parts, while its bytes arrive. A part of the text is one that `JSON.parse` takes as
 * the elements of a list: since JSON is read from left to right, it can end only between elements of the list itself.
 * Items that `JSON.parse` would change, such as those with a repeated field, are read one by one by the exact parser.
 * @param partLength number of characters from which a part is parsed
 * @throws FailureError if the body is not a list of items; the errors of `chunks`
 */
export async function* readItems(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  operation: Origin,
  partLength = usualPart,
): AsyncGenerator<readonly InventoryItem[]> {
  const reader = new ItemReader(itemDecoder(operation), partLength);
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += pieceLength) {
      const items = reader.read(chunk.subarray(from, from + pieceLength));
      if (items.length > 0) yield items;
    }
  }
  const items = reader.end();
  if (items.length > 0) yield items;
}

class ItemReader {
  /** The first bytes of a character whose last ones have not arrived. */
  #begun: Uint8Array = new Uint8Array(0);
  /** What has not been read yet. In the state `items` it begins with an item, in `first` perhaps with the end. */
  #text = '';
  #state: 'list' | 'first' | 'items' | 'end' = 'list';
  /** Number of bytes of the body before the text. */
  #before = 0;
  #received = 0;
  /** Number of characters before which nothing is tried, to avoid quadratic time. */
  #needed = 1;
  /** How items begin, like `{"petId"`: likely also the next one. */
  #start = '{';

  constructor(
    private readonly items: ItemDecoder,
    private readonly partLength: number,
  ) {}

  /** Returns the items of a part, if these bytes complete one. */
  read(bytes: Uint8Array): readonly InventoryItem[] {
    this.#add(bytes);
    if (this.#text.length < this.#needed) return [];
    if (this.#state === 'list') this.#begin();
    if (this.#state === 'list') {
      if (this.#text.length > maxOther) this.items.other(this.#text);
      return [];
    }
    const before = this.#before;
    const items = this.#part() ?? this.#oneByOne();
    const isStuck = this.#before === before;
    if (isStuck && this.#text.length > maxKept) throw this.items.tooLong(maxKept);
    this.#needed = isStuck ? Math.max(this.partLength, 2 * this.#text.length) : this.partLength;
    return items;
  }

  /** Returns the last items. */
  end(): readonly InventoryItem[] {
    this.#add(undefined);
    if (this.#state === 'list') this.#begin();
    if (this.#state === 'list') this.items.other(this.#text);
    const last = lastBefore(this.#text, this.#text.length);
    if (this.#text[last] === ']' && this.#state !== 'end') {
      const text = this.#text.slice(0, last);
      const elements = parseElements(text);
      const items = elements && this.items.regular(text, elements);
      if (items !== undefined && items.length > 0) return items;
    }
    const items = this.#oneByOne();
    if (this.#state !== 'end') throw this.items.cutOff(this.#received);
    return items;
  }

  #add(bytes: Uint8Array | undefined): void {
    this.#received += bytes?.length ?? 0;
    const all = Buffer.concat(bytes === undefined ? [this.#begun] : [this.#begun, bytes]);
    const whole = all.subarray(0, bytes === undefined ? all.length : wholeLength(all));
    // TextDecoder takes several times as long.
    if (!isUtf8(whole)) throw notUtf8(undefined);
    this.#text += whole.toString();
    this.#begun = all.subarray(whole.length);
  }

  /** Drops the text before a position. */
  #drop(at: number): void {
    this.#before += Buffer.byteLength(this.#text.slice(0, at));
    this.#text = this.#text.slice(at);
  }

  #begin(): void {
    // The body may begin with a byte order mark.
    const at = skipSpace(this.#text, this.#text.startsWith('\ufeff') ? 1 : 0);
    if (this.#text[at] !== '[') return;
    this.#drop(at + 1);
    this.#state = 'first';
  }

  /** Returns the items of the longest part; undefined if they can't be read as one. */
  #part(): readonly InventoryItem[] | undefined {
    if (this.#text.length < this.partLength) return [];
    if (this.#state === 'end') return undefined;
    const text = this.#text;
    let tries = 0;
    for (const start of new Set([this.#start, '{'])) {
      for (const { end, next } of placesBefore(text, start)) {
        if (tries === maxTries) return undefined;
        tries += 1;
        const part = text.slice(0, end);
        const elements = parseElements(part);
        if (elements === undefined) continue;
        const items = this.items.regular(part, elements);
        if (items === undefined) return undefined;
        this.#drop(next);
        this.#state = 'items';
        this.#start = /^\{\s*"[^"\\]{0,100}"/.exec(this.#text)?.[0] ?? '{';
        return items;
      }
    }
    return undefined;
  }

  /** Returns the items that are complete, each read exactly. */
  #oneByOne(): readonly InventoryItem[] {
    const text = this.#text;
    const items: InventoryItem[] = [];
    let at = skipSpace(text, 0);
    for (; at < text.length; at = skipSpace(text, at)) {
      const first = text.charAt(at);
      if (first === ']' && this.#state === 'first') {
        this.#state = 'end';
        at += 1;
        continue;
      }
      if (this.#state === 'end' || ',:]}'.includes(first)) throw this.#unexpected(at);
      const found = this.#valueAt(at);
      if (found === undefined) break;
      const next = text[found.end];
      if (next !== ',' && next !== ']') throw this.#unexpected(found.end);
      items.push(this.items.exact(found.value));
      this.#state = next === ']' ? 'end' : 'items';
      at = found.end + 1;
    }
    this.#drop(at);
    return items;
  }

  /** Returns a value and where the white space behind it ends; undefined if the text ends before or there. */
  #valueAt(at: number): ReturnType<typeof parseJsonAt> | undefined {
    const text = this.#text;
    try {
      const found = parseJsonAt(text, at, itemBounds);
      // The text may end within a number.
      if (!isJsonObject(found.value) && endOfValue(text, at) !== undefined) this.items.exact(found.value);
      return found.end < text.length ? found : undefined;
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof TooManyValues)) throw error;
      if (endOfValue(text, at) === undefined) return undefined;
      throw this.#unexpected(error instanceof JsonSyntaxError ? error.at : at, error);
    }
  }

  #unexpected(at: number, cause?: unknown): Error {
    return this.items.invalidAt(this.#before + Buffer.byteLength(this.#text.slice(0, at)), cause);
  }
}

/** Returns the length of UTF-8 without the bytes of a last character that is not complete. */
function wholeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (needed > 0) return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Returns the position of the last character before `at` that is not white space; -1 if there is none. */
function lastBefore(text: string, at: number): number {
  let last = at - 1;
  while (last >= 0 && ' \n\r\t'.includes(text.charAt(last))) last -= 1;
  return last;
}

/** Yields where the list may end before another object, from the last place: behind a `}` that has a comma behind it. */
function* placesBefore(text: string, start: string): Generator<{ readonly end: number; readonly next: number }> {
  for (let next = text.lastIndexOf(start); next > 0; next = text.lastIndexOf(start, next - 1)) {
    const comma = lastBefore(text, next);
    const brace = text[comma] === ',' ? lastBefore(text, comma) : -1;
    if (text[brace] === '}') yield { end: brace + 1, next };
  }
}
