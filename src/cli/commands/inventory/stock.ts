import type { Client } from '../../../api/client.ts';
import { RoundedIds } from '../../../change-files/rounded-ids.ts';
import { eachPicked, filtered } from '../../../inventory/filter.ts';
import { type InventoryItem, type ItemBatches, mayBeBarCode, type UnreadableItem } from '../../../inventory/items.ts';
import { isPetStatus } from '../../../inventory/statuses.ts';
import { FailureError, NotFoundError, type PetstockError } from '../../../shared/errors.ts';
import { petstock, targetWords } from '../../../shared/hint.ts';
import { sentence } from '../../../shared/parsed.ts';
import { type Target, targetName } from '../../../shared/target.ts';
import type { Invocation } from '../../invocation/invocation.ts';

/**
 * Yields the stock levels in the order of the service, and warns about the first status that the specification does not
 * define.
 * @param unreadable receives the pets that the list leaves out; the command ends with their error
 */
export function scanStock(invocation: Invocation, client: Client, unreadable: UnreadablePets): ItemBatches {
  return withStatusWarning(invocation, client.scanInventory({ onUnreadable: unreadable.add }));
}

async function* withStatusWarning(
  invocation: Invocation,
  batches: ItemBatches,
): AsyncGenerator<readonly InventoryItem[]> {
  let hasWarned = false;
  for await (const batch of batches) {
    const unknown: InventoryItem | undefined = hasWarned ? undefined : batch.find(({ status }) => !isPetStatus(status));
    if (unknown !== undefined) await warnOfStatus(invocation, unknown);
    hasWarned ||= unknown !== undefined;
    yield batch;
  }
}

export async function warnOfStatus(invocation: Invocation, { petId, status }: InventoryItem): Promise<void> {
  if (isPetStatus(status)) return;
  const shown = status.length > 100 ? `${status.slice(0, 100)}…` : status;
  await invocation.messages.warn(`The service gives pet ${petId} a status that this version does not know:`, shown);
}

/**
 * Returns the items of some pets. A pet that is not in the list is missing from the result. Sends one GET.
 * @param rounded receives all pets of the list
 * @throws FailureError if the list contains one of the pets twice
 */
export async function findItems(
  invocation: Invocation,
  client: Client,
  petIds: ReadonlySet<bigint>,
  unreadable: UnreadablePets,
  rounded: RoundedIds,
): Promise<ReadonlyMap<bigint, InventoryItem>> {
  const found = new Map<bigint, InventoryItem>();
  const all = seenBy(rounded, client.scanInventory({ onUnreadable: unreadable.add }));
  const asked = filtered(all, [{ petIds }]);
  await eachPicked(withStatusWarning(invocation, asked), petIds, (item) => found.set(item.petId, item));
  return found;
}

async function* seenBy(rounded: RoundedIds, batches: ItemBatches): AsyncGenerator<readonly InventoryItem[]> {
  for await (const items of batches) {
    for (const item of items) rounded.see(item);
    yield items;
  }
}

/** @param rounded knows the pets of the service, if the list was read */
export function noSuchPets(
  { target }: Invocation,
  petIds: readonly bigint[],
  rounded = new RoundedIds(petIds),
): NotFoundError {
  const shown = petIds.slice(0, maxNamed);
  const last = petIds.length > maxNamed ? `${petIds.length - maxNamed} more` : shown.pop();
  const are = shown.length === 0 ? `is no pet ${last}` : `are no pets ${shown.join(', ')} and ${last}`;
  const code = petIds.find(mayBeBarCode);
  const look = code === undefined ? ['list'] : ['get', '--code', `${code}`];
  const roundings = petIds.flatMap((petId) => {
    const rounding = rounded.roundingOf(petId);
    return rounding === undefined ? [] : [petIds.length === 1 ? rounding : `${petId}: ${rounding}`];
  });
  const why = petIds.length === 1 ? roundings.map((rounding) => `: ${rounding}`) : [];
  return new NotFoundError(`There ${are} in ${targetName(target)}${why}`, {
    lines: petIds.length === 1 ? [] : roundings.slice(0, maxNamed),
    hint: petstock`inventory ${look} ${targetWords(target)}`,
  });
}

interface WholeOptions {
  /** Pets that were not found. Unreadable pets are not reported as missing. */
  readonly absent?: readonly bigint[];
  readonly rounded?: RoundedIds;
  /** Errors about names that no pet has. */
  readonly errors?: readonly NotFoundError[];
  /** Selects the unreadable pets to report, as in `UnreadablePets.error`. */
  readonly matters?: (item: UnreadableItem) => boolean;
}

/**
 * Checks that no pet is unreadable or missing.
 * @throws one error that lists all such pets: NotFoundError if pets are only missing, otherwise FailureError
 */
export function requireWhole(
  invocation: Invocation,
  unreadable: UnreadablePets,
  { absent = [], rounded, errors = [], matters }: WholeOptions = {},
): void {
  const leftOut = unreadable.error(invocation.target, matters);
  const missing = absent.filter((petId) => !unreadable.has(petId));
  const notFound = missing.length > 0 ? [noSuchPets(invocation, missing, rounded), ...errors] : errors;
  const [error, ...others] = leftOut === undefined ? notFound : [leftOut, ...notFound];
  if (error === undefined) return;
  if (others.length === 0) throw error;
  // The lines of further errors come first, because a terminal shows only the beginning of many lines.
  const lines = others.flatMap((other) => [sentence(other.message), ...other.lines]);
  throw error.with({ lines: [...lines, ...error.lines] });
}

const maxNamed = 20;

/** The pets that a list can't show, because their stock can't be represented exactly. */
export class UnreadablePets extends Map<bigint, UnreadableItem> {
  /** Adds a pet with an unreadable stock. It is bound, so that it can be passed as a callback. */
  readonly add = (item: UnreadableItem): void => {
    this.set(item.petId, item);
  };

  /**
   * Returns the error that a command ends with after its output; undefined if nothing is wrong.
   * @param target the target of the service, for the hint; undefined for no hint
   * @param matters selects the unreadable pets that the list would have contained; default: all
   */
  error(
    target: Target | undefined,
    matters: (item: UnreadableItem) => boolean = () => true,
  ): PetstockError | undefined {
    const unreadable = [...this.values()].filter(matters);
    const [first] = unreadable;
    if (first === undefined) return undefined;
    const hint = target && petstock`api GET /inventory ${targetWords(target)}`;
    if (unreadable.length === 1) {
      const { petId, number, problem } = first;
      const message = `Pet ${petId} is left out: "quantity" in the response is ${number}, which is ${problem}`;
      return new FailureError(message, { hint });
    }
    const lines = unreadable
      .slice(0, maxNamed)
      .map(({ petId, number, problem }) => `pet ${petId}: ${number} is ${problem}`);
    if (unreadable.length > maxNamed) lines.push(`and ${unreadable.length - maxNamed} more`);
    const message = `${unreadable.length} pets are left out, because "quantity" in the response can't be read`;
    return new FailureError(message, { hint, lines });
  }
}
