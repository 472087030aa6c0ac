import type { InventoryItem } from '../../inventory/items.ts';
import type { FailureError } from '../../shared/errors.ts';

/** What reads an item that is not plain, and words what is wrong. */
export interface ExactDecoder {
  /**
   * @param index how many items are before it
   * @param offset where in the body it begins
   * @returns undefined where the item is to be left out
   * @throws FailureError
   */
  item(bytes: Uint8Array, index: number, offset: number): InventoryItem | undefined;
  /** A body that begins with something else than a list. @throws FailureError always */
  other(bytes: Uint8Array): never;
  /** The error for an item that is longer than any item. @param index how many items are before it */
  tooLong(index: number): FailureError;
  /** The error for a byte that has no place there. */
  unexpected(offset: number): FailureError;
  /** The error for a list that ends before it is closed. */
  cutOff(offset: number): FailureError;
}
