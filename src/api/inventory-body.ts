import { grouped } from '../inventory/grouped.ts';
import type { ItemColumns } from '../inventory/item-columns.ts';
import type { UnreadableItem } from '../inventory/items.ts';
import { FailureError, UnavailableError } from '../shared/errors.ts';
import { exactDecoder } from './decode.ts';
import type { Answer } from './exchange.ts';
import { NetworkFault } from './network-fault.ts';
import { InventoryScanner } from './scanner/scanner.ts';

const operation = { name: 'GET /inventory' };

export interface ReadInventoryOptions {
  /** @returns whether to go on */
  give(batch: ItemColumns): Promise<boolean>;
  /** Is called for items that are left out since their quantity can't be held, before the batch behind them is given. */
  readonly onUnreadable?: ((item: UnreadableItem) => void) | undefined;
}

/**
 * Reads the body of `GET /inventory` and gives its items away batch by batch, until `give` resolves with false.
 * As long as nothing was given away, a NetworkFault is one that may be tried again; later that would start the list again.
 *
 * @throws FailureError for a body that makes no sense, UnavailableError for one that broke off after the first batch
 */
export async function readInventory(answer: Answer, { give, onUnreadable }: ReadInventoryOptions): Promise<void> {
  // Until something was given away the list may be read anew.
  const leftOut: UnreadableItem[] = [];
  const scanner = new InventoryScanner(exactDecoder(operation, onUnreadable && ((item) => void leftOut.push(item))));
  let begun = false;
  const giveBatch = () => {
    begun = true;
    for (const item of leftOut.splice(0)) onUnreadable?.(item);
    return answer.pauseTimeout(() => give(scanner.batch));
  };
  try {
    for await (const chunk of answer.chunks()) {
      scanner.add(chunk);
      while (scanner.fill()) {
        if (!(await giveBatch())) return;
      }
    }
    scanner.finish();
    if (scanner.batch.length + leftOut.length > 0) await giveBatch();
  } catch (error) {
    throw begun ? notWhole(error, scanner.received) : error;
  }
}

function notWhole(cause: unknown, received: number): unknown {
  if (cause instanceof NetworkFault) {
    const where = `The answer to ${operation.name} broke off after ${grouped(received)} bytes`;
    return new UnavailableError(`${where}, so the list is not whole: ${cause.message}`, { cause });
  }
  if (cause instanceof FailureError) return new FailureError(`${cause.message}. The list is not whole`, { cause });
  return cause;
}
