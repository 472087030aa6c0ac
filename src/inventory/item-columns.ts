import { FailureError } from '../shared/errors.ts';
import { grouped, type InventoryItem } from './items.ts';

/** Number of items per batch: enough to make the cost per batch negligible, few enough for the processor's cache. */
export const batchSize = 4096;

/**
 * A batch of stock levels in columns instead of objects, to save a million objects for a million items.
 *
 * The producer fills the same batch again and again: it is valid until the next one is requested. A reader may reduce
 * it with `keep` and `truncate`.
 */
export class ItemColumns {
  length = 0;
  petIds: BigInt64Array;
  /** Safe integers; never -0. */
  quantities: Float64Array;
  /** Indexes into `statuses`. */
  statusCodes: Uint32Array;
  /** Grows while batches are made, and is sometimes replaced. Anything that was stored by code becomes invalid then. */
  statuses = new StatusNames();

  constructor(public capacity = batchSize) {
    this.petIds = new BigInt64Array(capacity);
    this.quantities = new Float64Array(capacity);
    this.statusCodes = new Uint32Array(capacity);
  }

  petIdAt(index: number): bigint {
    return this.petIds[index] ?? 0n;
  }

  statusAt(index: number): string {
    return this.statuses.textOf(this.statusCodes[index] ?? 0);
  }

  itemAt(index: number): InventoryItem {
    const quantity = this.quantities[index] ?? 0;
    // V8 stores a number that was read as a float in 16 bytes of its own; a small integer needs no extra memory.
    const isSmall = (quantity | 0) === quantity;
    return { petId: this.petIdAt(index), quantity: isSmall ? quantity | 0 : quantity, status: this.statusAt(index) };
  }

  /** Returns the items as objects, or the first `most` of them. */
  items(most = this.length): InventoryItem[] {
    return Array.from({ length: Math.min(most, this.length) }, (_, index) => this.itemAt(index));
  }

  findByStatus(passes: (status: string) => boolean): InventoryItem | undefined {
    const codes = Array.from({ length: this.statuses.size }, (_, code) => passes(this.statuses.textOf(code)));
    if (!codes.includes(true)) return undefined;
    const index = this.statusCodes.subarray(0, this.length).findIndex((code) => codes[code] === true);
    return index < 0 ? undefined : this.itemAt(index);
  }

  append(petId: bigint, quantity: number, status: string): void {
    this.#makeRoom(this.length + 1);
    this.petIds[this.length] = petId;
    this.quantities[this.length] = quantity + 0;
    this.statusCodes[this.length] = this.statuses.codeOf(status);
    this.length += 1;
  }

  add(batch: ItemColumns): void {
    this.#makeRoom(this.length + batch.length);
    const codes = Array.from({ length: batch.statuses.size }, (_, code) =>
      this.statuses.codeOf(batch.statuses.textOf(code)),
    );
    for (let index = 0; index < batch.length; index += 1) {
      const to = this.length + index;
      this.copy(batch, index, to);
      this.statusCodes[to] = codes[batch.statusCodes[index] ?? 0] ?? 0;
    }
    this.length += batch.length;
  }

  #makeRoom(length: number): void {
    if (length <= this.capacity) return;
    requireRoom(length);
    this.capacity = Math.min(Math.max(length, 2 * this.capacity), maxGathered);
    const { petIds, quantities, statusCodes } = this;
    this.petIds = new BigInt64Array(this.capacity);
    this.petIds.set(petIds);
    this.quantities = new Float64Array(this.capacity);
    this.quantities.set(quantities);
    this.statusCodes = new Uint32Array(this.capacity);
    this.statusCodes.set(statusCodes);
  }

  /** Copies one item. Its status must have the same code in both batches. */
  copy(from: ItemColumns, index: number, to: number): void {
    this.petIds[to] = from.petIdAt(index);
    this.quantities[to] = from.quantities[index] ?? 0;
    this.statusCodes[to] = from.statusCodes[index] ?? 0;
  }

  keep(passes: (index: number) => boolean): void {
    let kept = 0;
    for (let index = 0; index < this.length; index += 1) {
      if (!passes(index)) continue;
      if (kept !== index) this.copy(this, index, kept);
      kept += 1;
    }
    this.length = kept;
  }

  truncate(length: number): void {
    this.length = Math.min(this.length, length);
  }
}

/**
 * Maximum number of pets held at once; they take 250 MB. The largest chains have a few hundred thousand pets; a list
 * that exceeds the maximum may be endless.
 */
const maxGathered = 10_000_000;

/** @throws FailureError for a list that is too long to be held */
export function requireRoom(length: number): void {
  if (length <= maxGathered) return;
  throw new FailureError(
    `The list of the service has more than ${grouped(maxGathered)} pets: too many to sort them or to detect repeated ones. The list may be endless`,
    { hint: 'petstock status --verbose' },
  );
}

/** Batches from a source; each is valid until the next is requested. */
export type ColumnBatches = AsyncIterable<ItemColumns>;

/** Yields the items as objects, a batch at a time. */
export async function* itemsOf(batches: ColumnBatches): AsyncGenerator<readonly InventoryItem[]> {
  for await (const batch of batches) yield batch.items();
}

/** Assigns small numbers to statuses, in the order of their first appearance. */
export class StatusNames {
  readonly #texts: string[] = [];
  readonly #codes = new Map<string, number>();
  /** Total length of all texts. */
  characters = 0;

  get size(): number {
    return this.#texts.length;
  }

  codeOf(text: string): number {
    const known = this.#codes.get(text);
    if (known !== undefined) return known;
    // Copied, because a part of a string keeps the whole string in memory.
    const own = Buffer.from(text, 'utf16le').toString('utf16le');
    this.#codes.set(own, this.#texts.length);
    this.characters += own.length;
    return this.#texts.push(own) - 1;
  }

  textOf(code: number): string {
    return this.#texts[code] ?? '';
  }
}

/** Returns less than 0 if the left id comes first. */
export function compareIds(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
