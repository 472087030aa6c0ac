/** 2³² divided by the golden ratio: spreads what is close. */
const golden = 0x9e3779b1;
const fewBits = 8;

/**
 * The names of the fields of one item and of the objects in it, as hashes: tells where an object may have a name twice.
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

  /** @returns false where the object may have had the name before */
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
