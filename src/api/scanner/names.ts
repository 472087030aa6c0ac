import { byte, characterLength, codePointAt, isPlain, unread } from './bytes.ts';

const seed = 0x811c9dc5 | 0;
const prime = 0x01000193;

/** Reads the names of fields. All spellings of a name have the same hash. */
export class NameReader {
  /** The hash of the last name: FNV-1a over its code points, as a 32-bit integer. */
  hash = 0;

  /**
   * Reads the name whose opening quote is at `start`.
   * @returns the position after the closing quote, or `unread`
   */
  read(bytes: Uint8Array, start: number): number {
    if (bytes[start] !== byte.quote) return unread;
    let hash = seed;
    let at = start + 1;
    for (let value = bytes[at] ?? 0; value !== byte.quote; value = bytes[at] ?? 0) {
      if (isPlain(value)) {
        hash = mix(hash, value);
        at += 1;
        continue;
      }
      const length = characterLength(bytes, at);
      if (length === 0) return unread;
      const point = codePointAt(bytes, at, length);
      const low = isHighSurrogate(point) ? lowSurrogateAt(bytes, at + length) : 0;
      hash = mix(hash, low === 0 ? point : 0x10000 + ((point - 0xd800) << 10) + low - 0xdc00);
      at += low === 0 ? length : 2 * length;
    }
    this.hash = hash;
    return at + 1;
  }
}

/** @param name an ASCII name */
export function hashOf(name: string): number {
  return [...Buffer.from(name)].reduce(mix, seed);
}

/** Reports whether the valid name whose opening quote is at `start` is `name`, which is ASCII. */
export function spells(bytes: Uint8Array, start: number, name: string): boolean {
  let at = start + 1;
  for (let index = 0; index < name.length; index += 1) {
    const length = characterLength(bytes, at);
    if (length === 0 || codePointAt(bytes, at, length) !== name.charCodeAt(index)) return false;
    at += length;
  }
  return bytes[at] === byte.quote;
}

function mix(hash: number, point: number): number {
  return Math.imul(hash ^ point, prime);
}

function isHighSurrogate(point: number): boolean {
  return point >= 0xd800 && point < 0xdc00;
}

/** Returns the second half of a surrogate pair in escapes, or 0. */
function lowSurrogateAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== byte.backslash || characterLength(bytes, at) !== 6) return 0;
  const point = codePointAt(bytes, at, 6);
  return point >= 0xdc00 && point < 0xe000 ? point : 0;
}

/** 2³² divided by the golden ratio; spreads similar keys. */
const golden = 0x9e3779b1;
const fewBits = 8;

/**
 * The hashes of the field names of one item and of the objects in it. Detects whether an object may repeat a name, and
 * never misses a repetition. Two names with the same hash are rare; the exact decoder compares them.
 */
export class NameSet {
  /** There are 2 to the power of `#bits` slots. */
  #bits = fewBits;
  #keys = new Int32Array(2 ** fewBits);
  /** For each slot, the item that its key belongs to. Keys of other items count as removed. */
  #items = new Int32Array(2 ** fewBits);
  #item = 0;
  #count = 0;
  #objects = 0;

  startItem(): void {
    this.#item = (this.#item + 1) | 0;
    this.#count = 0;
    this.#objects = 0;
  }

  /** Returns a number for an object in the item. The item itself is 0. */
  startObject(): number {
    this.#objects += 1;
    return this.#objects;
  }

  /** @returns false if the object may already have the name */
  add(object: number, hash: number): boolean {
    if (2 * this.#count >= this.#keys.length) this.#grow();
    this.#count += 1;
    return this.#insert(hash ^ Math.imul(object, golden));
  }

  #insert(key: number): boolean {
    const keys = this.#keys;
    const items = this.#items;
    const mask = keys.length - 1;
    let slot = Math.imul(key, golden) >>> (32 - this.#bits);
    for (; items[slot] === this.#item; slot = (slot + 1) & mask) if (keys[slot] === key) return false;
    keys[slot] = key;
    items[slot] = this.#item;
    return true;
  }

  #grow(): void {
    const keys = this.#keys.filter((_, slot) => this.#items[slot] === this.#item);
    this.#bits += 1;
    this.#keys = new Int32Array(2 ** this.#bits);
    this.#items = new Int32Array(2 ** this.#bits);
    for (const key of keys) this.#insert(key);
  }
}
