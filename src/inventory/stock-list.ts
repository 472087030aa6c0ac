import { type ComparedField, comparedFields, compareIds, type InventoryItem } from './item-fields.ts';
import { gathered, type ItemBatches } from './items.ts';

/** An immutable list of stock, in the order of pet ids. */
export class StockList {
  static readonly empty = new StockList([]);
  readonly items: readonly InventoryItem[];

  /** Items with the same id keep their order. */
  constructor(items: readonly InventoryItem[]) {
    const isInOrder = items.every(({ petId }, index) => compareIds(items[index - 1]?.petId ?? petId, petId) <= 0);
    this.items = isInOrder ? items : items.toSorted((left, right) => compareIds(left.petId, right.petId));
  }

  static async gather(batches: ItemBatches): Promise<StockList> {
    return new StockList(await gathered(batches));
  }

  get size(): number {
    return this.items.length;
  }

  /** The id that is longest when written; 0 if the list is empty. */
  get longestId(): bigint {
    const [first = 0n, last = 0n] = [this.items[0]?.petId, this.items.at(-1)?.petId];
    return `${first}`.length > `${last}`.length ? first : last;
  }

  /** Returns a pet that occurs twice; undefined if there is none. */
  repeated(): bigint | undefined {
    return this.items.find(({ petId }, index) => petId === this.items[index - 1]?.petId)?.petId;
  }

  /**
   * Yields the differences of two lists, by pet id, in batches.
   * @param only the field to compare of pets in both lists; undefined for all fields
   */
  static *differences(left: StockList, right: StockList, only?: ComparedField): Generator<readonly Difference[]> {
    let batch: Difference[] = [];
    let [leftAt, rightAt] = [0, 0];
    while (leftAt < left.size || rightAt < right.size) {
      const [before, after] = [left.items[leftAt], right.items[rightAt]];
      // A list that has ended comes last.
      const order = before === undefined ? 1 : after === undefined ? -1 : compareIds(before.petId, after.petId);
      if (order <= 0) leftAt += 1;
      if (order >= 0) rightAt += 1;
      const difference = differenceOf(order <= 0 ? before : undefined, order >= 0 ? after : undefined, only);
      if (difference === undefined) continue;
      batch.push(difference);
      if (batch.length < batchSize) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }
}

/** The stock of one pet on one side. A text that is empty or absent is not known, and not compared. */
export type StockEntry = Omit<InventoryItem, 'petId'>;

/** A pet that differs between two lists. */
export interface Difference {
  readonly petId: bigint;
  /** `added`: only in the right list; `removed`: only in the left list; `changed`: in both lists. */
  readonly change: 'added' | 'removed' | 'changed';
  readonly left: StockEntry | undefined;
  readonly right: StockEntry | undefined;
}

/** Number of differences per batch: enough to make the cost per batch negligible. */
const batchSize = 1000;

/** Returns how two items of a pet differ, one of which may be absent; undefined if they don't. */
function differenceOf(
  left: InventoryItem | undefined,
  right: InventoryItem | undefined,
  only: ComparedField | undefined,
): Difference | undefined {
  const petId = left?.petId ?? right?.petId ?? 0n;
  if (left === undefined || right === undefined) {
    return { petId, change: left === undefined ? 'added' : 'removed', left, right };
  }
  return differs(left, right, only) ? { petId, change: 'changed', left, right } : undefined;
}

function differs(left: InventoryItem, right: InventoryItem, only: ComparedField | undefined): boolean {
  return only === undefined
    ? comparedFields.some((name) => isOther(left[name], right[name]))
    : isOther(left[only], right[only]);
}

type Value = InventoryItem[ComparedField];

function isOther(left: Value | undefined, right: Value | undefined): boolean {
  return left !== right && isKnown(left) && isKnown(right);
}

function isKnown(value: Value | undefined): boolean {
  return value !== undefined && value !== '';
}
