import type { UnreadableItem } from '../../../inventory/items.ts';
import { FailureError, type PetstockError } from '../../../shared/errors.ts';
import { type Where, whereOptions } from '../../../shared/where.ts';

/** At most this many are named in one error. */
const mostNamed = 20;

/** The pets that a list can't show as they are: their stock can't be held exactly, or the answer names them twice. */
export class UnreadablePets {
  readonly #items = new Map<bigint, UnreadableItem>();
  readonly #repeated = new Set<bigint>();

  get size(): number {
    return this.#items.size;
  }

  has(petId: bigint): boolean {
    return this.#items.has(petId);
  }

  [Symbol.iterator](): Iterator<UnreadableItem> {
    return this.#items.values();
  }

  /** Takes a pet whose stock can't be read. May be handed on as it is. */
  readonly add = (item: UnreadableItem): void => {
    this.#items.set(item.petId, item);
  };

  /** Takes a pet that was there before. May be handed on as it is. */
  readonly repeat = (petId: bigint): void => {
    this.#repeated.add(petId);
  };

  /**
   * Returns what a command ends with once the rest is shown; undefined if nothing is wrong.
   * @param where of the service, if it is one
   * @param matters which of the unreadable ones the list would have had; default: all
   */
  error(where: Where | undefined, matters: (item: UnreadableItem) => boolean = () => true): PetstockError | undefined {
    const unreadable = Array.from(this).filter(matters);
    const faults = [
      ...unreadable.map(({ petId, number, fault }) => ({
        sentence: `Pet ${petId} is left out: "quantity" in the answer is ${number}, which is ${fault}`,
        line: `pet ${petId}: ${number} is ${fault}`,
      })),
      ...Array.from(this.#repeated, (petId) => ({
        sentence: `Pet ${petId} is in the answer more than once: only the first counts here`,
        line: `pet ${petId} is there more than once: only the first counts here`,
      })),
    ];
    const [first] = faults;
    if (first === undefined) return undefined;
    // It shows the answer as it came.
    const hint = where && `petstock api GET /inventory ${whereOptions(where)}`;
    if (faults.length === 1) return new FailureError(first.sentence, { hint });
    const lines = faults.slice(0, mostNamed).map(({ line }) => line);
    if (faults.length > mostNamed) lines.push(`and ${faults.length - mostNamed} more`);
    const { length } = unreadable;
    const message =
      length === faults.length
        ? `${length} pets are left out, since "quantity" in the answer can't be read`
        : `The answer makes no sense for ${faults.length} pets`;
    return new FailureError(message, { hint, lines });
  }
}
