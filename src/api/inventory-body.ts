import type { InventoryItem } from '../inventory/item-fields.ts';
import { counted, type UnreadableItem } from '../inventory/items.ts';
import { FailureError, UnavailableError } from '../shared/errors.ts';
import type { ReceivedResponse } from './exchange.ts';
import { NetworkFailure } from './failures.ts';
import { readItems } from './read-items.ts';

const operation = { name: 'GET /inventory' };

/**
 * Reads the body of `GET /inventory` up to its first items, so that until then the request may be retried, and returns
 * all items in batches, which are read as they are requested.
 * @param onUnreadable called before the next batch or at the end, for items that are left out because their quantity is
 * not a safe integer
 * @throws FailureError for an invalid body; NetworkFailure if the body breaks off before the first batch. Later, the
 * batches throw UnavailableError for that
 */
export async function readInventory(
  response: ReceivedResponse,
  onUnreadable: ((item: UnreadableItem) => void) | undefined,
): Promise<AsyncGenerator<readonly InventoryItem[]>> {
  // Unreadable items are not reported before the first batch, because until then the list may be read again.
  const leftOut: UnreadableItem[] = [];
  let received = 0;
  async function* chunks() {
    for await (const chunk of response.chunks()) {
      received += chunk.length;
      yield chunk;
    }
  }
  async function* batches() {
    let hasBegun = false;
    try {
      const options = { onUnreadable: onUnreadable && ((item: UnreadableItem) => void leftOut.push(item)) };
      for await (const items of readItems(chunks(), operation, options)) {
        hasBegun = true;
        for (const item of leftOut.splice(0)) onUnreadable?.(item);
        yield items;
      }
      for (const item of leftOut) onUnreadable?.(item);
    } catch (error) {
      throw hasBegun ? incompleteError(error, received) : error;
    }
  }
  const all = batches();
  return response.readOn(all, await all.next());
}

function incompleteError(cause: unknown, received: number): unknown {
  if (cause instanceof NetworkFailure) {
    const where = `The response to ${operation.name} broke off after ${counted(received, 'byte')}`;
    return new UnavailableError(`${where}, so the list is incomplete: ${cause.message}`, { cause });
  }
  if (cause instanceof FailureError) return new FailureError(`${cause.message}. The list is incomplete`, { cause });
  return cause;
}
