import type { ItemColumns } from '../inventory/item-columns.ts';
import { grouped, type UnreadableItem } from '../inventory/items.ts';
import { FailureError, UnavailableError } from '../shared/errors.ts';
import { exactDecoder } from './decode.ts';
import type { ReceivedResponse } from './exchange.ts';
import { NetworkFailure } from './failures.ts';
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
 * As long as nothing was given away, a NetworkFailure is one that may be tried again; later that would start the list again.
 *
 * @throws FailureError for a body that makes no sense, UnavailableError for one that broke off after the first batch
 */
export async function readInventory(
  answer: ReceivedResponse,
  { give, onUnreadable }: ReadInventoryOptions,
): Promise<void> {
  // Until something was given away the list may be read anew.
  const leftOut: UnreadableItem[] = [];
  const exact = exactDecoder(operation, onUnreadable && ((item) => void leftOut.push(item)));
  const scanner = new InventoryScanner(exact);
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
  if (cause instanceof NetworkFailure) {
    const where = `The answer to ${operation.name} broke off after ${grouped(received)} bytes`;
    return new UnavailableError(`${where}, so the list is not whole: ${cause.message}`, { cause });
  }
  if (cause instanceof FailureError) return new FailureError(`${cause.message}. The list is not whole`, { cause });
  return cause;
}

/**
 * Makes a generator of a function that gives values away one after the other. It goes on when the next value is asked for,
 * and when no more is asked for, it learns that, and is waited for.
 *
 * @param run `give` resolves with false once no more is wanted: then `run` has to come to its end
 */
export async function* pushToPull<T>(run: (give: (value: T) => Promise<boolean>) => Promise<void>): AsyncGenerator<T> {
  type Step = { readonly value: T; goOn(wanted: boolean): void } | undefined;
  let step: (step: Step) => void = () => {};
  let fail: (reason: unknown) => void = () => {};
  const nextStep = () =>
    new Promise<Step>((resolve, reject) => {
      step = resolve;
      fail = reject;
    });
  const give = (value: T) => new Promise<boolean>((goOn) => step({ value, goOn }));
  let next = nextStep();
  // The functions change with every step, so they are looked up when it has ended.
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
      current.goOn(wanted);
      // What fails when no more is wanted does not matter.
      if (!wanted) await Promise.allSettled([ended, next]);
    }
  }
}
