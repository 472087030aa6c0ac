import type { ItemColumns } from '../../inventory/item-columns.ts';

/** 2⁶³ in head and tail. */
export const largestHead = 9_223_372_036;
const largestTail = 854_775_808;

/** Stores head × 10⁹ + tail as the id behind the last item. @returns false where it is no int64 */
export function storeId({ heads, tails, length }: ItemColumns, head: number, tail: number, negative: boolean): boolean {
  if (head > largestHead) return false;
  if (head === largestHead && tail > (negative ? largestTail : largestTail - 1)) return false;
  heads[length] = negative ? 0 - head : head;
  tails[length] = negative ? 0 - tail : tail;
  return true;
}

/** Stores the quantity of the item behind the last. @returns false where it is no safe integer */
export function storeQuantity({ quantities, length }: ItemColumns, quantity: number, negative: boolean): boolean {
  if (quantity > Number.MAX_SAFE_INTEGER) return false;
  quantities[length] = negative ? 0 - quantity : quantity;
  return true;
}
