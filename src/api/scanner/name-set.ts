/**
 * The names of the fields of one item and of the objects in it, as hashes: tells where an object may have a name twice.
 * It never misses one. Two names with one hash are seldom, and then it is the exact decoder that compares them.
 */
export class NameSet {
  #keys = new Int32Array(256);
  /** By slot: the item that its key is of. What is of another item is not there any more, so nothing is ever removed. */
  #items = new Int32Array(256);
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
    let slot = (Math.imul(key, golden) >>> 16) & mask;
    for (; items[slot] === this.#item; slot = (slot + 1) & mask) if (keys[slot] === key) return false;
    keys[slot] = key;
    items[slot] = this.#item;
    return true;
  }

  #grow(): void {
    const keys = this.#keys.filter((_, slot) => this.#items[slot] === this.#item);
    this.#keys = new Int32Array(2 * this.#keys.length);
    this.#items = new Int32Array(this.#keys.length);
    for (const key of keys) this.#insert(key);
  }
}

/** 2³² divided by the golden ratio: spreads what is close. */
const golden = 0x9e3779b1;
