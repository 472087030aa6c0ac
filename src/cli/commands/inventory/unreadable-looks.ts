import { unreadableText } from '../../../inventory/items.ts';
import { UnreadablePets } from './unreadable-pets.ts';

/** The pets that the last two looks are without since their stock can't be read: what they seem to do is no change. */
export class UnreadableLooks {
  readonly #petIds: ReadonlySet<bigint> | undefined;
  #before = new UnreadablePets();
  #now = new UnreadablePets();

  /** @param petIds that are watched; undefined: all */
  constructor(petIds: ReadonlySet<bigint> | undefined) {
    this.#petIds = petIds;
  }

  /** A look has succeeded. @returns warnings about pets that the one before could read */
  looked(look: UnreadablePets): string[] {
    this.#before = this.#now;
    this.#now = look;
    return [...look]
      .filter(({ petId }) => !this.#before.has(petId) && this.#petIds?.has(petId) !== false)
      .map((item) => `${unreadableText(item)}: no change of it is seen until it can be read`);
  }

  hides({ petId }: { readonly petId: bigint }): boolean {
    return this.#now.has(petId) || this.#before.has(petId);
  }
}
