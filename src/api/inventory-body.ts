import type { ItemColumns } from '../inventory/item-columns.ts';
import { counted, type UnreadableItem } from '../inventory/items.ts';
import { FailureError, UnavailableError } from '../shared/errors.ts';
import { exactDecoder } from './decode.ts';
import type { ReceivedResponse } from './exchange.ts';
import { NetworkFailure } from './failures.ts';
import { InventoryScanner } from './inventory-scanner.ts';

const operation = { name: 'GET /inventory' };

export interface ReadInventoryOptions {
  /** @returns whether to continue */
  give(batch: ItemColumns): Promise<boolean>;
  /**
   * Called before the next batch or at the end, for items that are left out because their quantity is not a safe
   * integer.
   */
  readonly onUnreadable?: ((item: UnreadableItem) => void) | undefined;
}

/**
 * Reads the body of `GET /inventory` and passes its items on in batches, until `give` resolves with false. Before the
 * first batch, a NetworkFailure may be retried; later a retry would start the list again.
 * @throws FailureError for an invalid body; NetworkFailure if the body breaks off before the first batch,
 * UnavailableError if it does later
 */
export async function readInventory(
  response: ReceivedResponse,
  { give, onUnreadable }: ReadInventoryOptions,
): Promise<void> {
  // Unreadable items are not reported before the first batch, because until then the list may be read again.
  const leftOut: UnreadableItem[] = [];
  const exact = exactDecoder(operation, onUnreadable && ((item) => void leftOut.push(item)));
  const scanner = new InventoryScanner(exact);
  const reportLeftOut = () => {
    for (const item of leftOut.splice(0)) onUnreadable?.(item);
  };
  let begun = false;
  const giveAll = async (batches: Iterable<ItemColumns>) => {
    for (const batch of batches) {
      begun = true;
      reportLeftOut();
      if (!(await response.pauseTimeout(() => give(batch)))) return false;
    }
    return true;
  };
  try {
    for await (const chunk of response.chunks()) if (!(await giveAll(scanner.read(chunk)))) return;
    await giveAll(scanner.read(undefined));
    reportLeftOut();
  } catch (error) {
    throw begun ? incompleteError(error, scanner.received) : error;
  }
}

function incompleteError(cause: unknown, received: number): unknown {
  if (cause instanceof NetworkFailure) {
    const where = `The response to ${operation.name} broke off after ${counted(received, 'byte')}`;
    return new UnavailableError(`${where}, so the list is incomplete: ${cause.message}`, { cause });
  }
  if (cause instanceof FailureError) return new FailureError(`${cause.message}. The list is incomplete`, { cause });
  return cause;
}

/**
 * Yields the values that a function passes to `give`. The function continues when the next value is requested. If no
 * more values are requested, `give` resolves with false, and the generator waits for the function to end.
 * @param run must end once `give` has resolved with false
 */
export async function* pushToPull<T>(run: (give: (value: T) => Promise<boolean>) => Promise<void>): AsyncGenerator<T> {
  type Step = { readonly value: T; resume(wanted: boolean): void } | undefined;
  let step: (step: Step) => void = () => {};
  let fail: (reason: unknown) => void = () => {};
  const nextStep = () =>
    new Promise<Step>((resolve, reject) => {
      step = resolve;
      fail = reject;
    });
  const give = (value: T) => new Promise<boolean>((resume) => step({ value, resume }));
  let next = nextStep();
  // `step` and `fail` change with each value, so they are looked up only when `run` has ended.
  const ended = run(give).then(
    () => step(undefined),
    (reason) => fail(reason),
  );
  for (;;) {
    const current = await next;
    if (current === undefined) return;
    next = nextStep();
    let wanted = false;
    try {
      yield current.value;
      wanted = true;
    } finally {
      current.resume(wanted);
      // Errors no longer matter when no more values are wanted.
      if (!wanted) await Promise.allSettled([ended, next]);
    }
  }
}
