import type { UnreadableItem } from '../../../inventory/items.ts';
import { FailureError, type PetstockError } from '../../../shared/errors.ts';
import { type Where, whereOptions } from '../../../shared/where.ts';

/** At most this many are named in one error. */
const mostNamed = 20;

/** The pets that a list is without, since their stock is a number that can't be held exactly. */
export class UnreadablePets {
  readonly #items = new Map<bigint, UnreadableItem>();

  get size(): number {
    return this.#items.size;
  }

  has(petId: bigint): boolean {
    return this.#items.has(petId);
  }

  [Symbol.iterator](): Iterator<UnreadableItem> {
    return this.#items.values();
  }

  /** May be handed on as it is. */
  readonly add = (item: UnreadableItem): void => {
    this.#items.set(item.petId, item);
  };

  /**
   * @param where of the service, where it is one
   * @param matters which of them the list would have had; default: all
   */
  error(where: Where | undefined, matters: (item: UnreadableItem) => boolean = () => true): PetstockError | undefined {
    const items = [...this].filter(matters);
    const [first] = items;
    if (first === undefined) return undefined;
    // It shows the answer as it came.
    const hint = where && `petstock api GET /inventory ${whereOptions(where)}`;
    if (items.length === 1) {
      const { petId, number, fault } = first;
      const message = `Pet ${petId} is left out: "quantity" in the answer is ${number}, which is ${fault}`;
      return new FailureError(message, { hint });
    }
    const lines = items.slice(0, mostNamed).map(({ petId, number, fault }) => `pet ${petId}: ${number} is ${fault}`);
    if (items.length > mostNamed) lines.push(`and ${items.length - mostNamed} more`);
    return new FailureError(`${items.length} pets are left out, since "quantity" in the answer can't be read`, {
      hint,
      lines,
    });
  }
}
