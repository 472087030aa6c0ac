import { byte, characterLength, codePointAt, isPlain, unread } from './bytes.ts';

const seed = 0x811c9dc5 | 0;
const prime = 0x01000193;

/** Reads the names of fields. However a name is spelled, its hash is the same. */
export class NameReader {
  /** Of the name that was read last: FNV-1a over its code points, a 32-bit integer. */
  hash = 0;

  /**
   * Reads the name whose opening quote is at `start`.
   * @returns the place behind the closing quote, or `unread`
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

/** @param name of ASCII alone */
export function hashOf(name: string): number {
  return [...Buffer.from(name)].reduce(mix, seed);
}

/** Whether the legal name whose opening quote is at `start` is `name`, which is of ASCII alone. */
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

/** The second half of a pair of escapes, or 0. */
function lowSurrogateAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== byte.backslash || characterLength(bytes, at) !== 6) return 0;
  const point = codePointAt(bytes, at, 6);
  return point >= 0xdc00 && point < 0xe000 ? point : 0;
}

/** 2³² divided by the golden ratio: spreads what is close. */
const golden = 0x9e3779b1;
const fewBits = 8;

/**
 * The names of the fields of one item and of the objects in it, as hashes: tells whether an object may have a name twice.
 * It never misses one. Two names with one hash are rare; the exact decoder compares them.
 */
export class NameSet {
  /** There are 2 to the power of so many slots. */
  #bits = fewBits;
  #keys = new Int32Array(2 ** fewBits);
  /** By slot: the item that its key is of. What is of another item is not there any more, so nothing is ever removed. */
  #items = new Int32Array(2 ** fewBits);
  #item = 0;
  #count = 0;
  #objects = 0;

  startItem(): void {
    this.#item = (this.#item + 1) | 0;
    this.#count = 0;
    this.#objects = 0;
  }

  /** A number for an object in the item. The item itself is 0. */
  startObject(): number {
    this.#objects += 1;
    return this.#objects;
  }

  /** @returns false if the object may have had the name before */
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
