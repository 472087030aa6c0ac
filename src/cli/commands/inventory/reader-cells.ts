import type { ReaderCells } from '../../../change-files/read-changes.ts';
import type { PetNames } from '../../../inventory/bar-codes.ts';
import type { InventoryItem } from '../../../inventory/items.ts';
import { plainText } from '../../../inventory/pet-names.ts';
import type { Invocation } from '../../invocation/invocation.ts';

/** Maximum number of lines that a warning lists. */
const maxNamed = 20;

/** Finds rows whose status or name differs from the current one, because `apply` does not write them. */
export class ReaderCellCheck {
  readonly #statusLines = new Set<number>();

  constructor(
    private readonly cells: ReadonlyMap<bigint, ReaderCells>,
    private readonly unit: string,
  ) {}

  /** Compares the status of a row with the service's. It is bound, so that it can be passed as a callback. */
  readonly see = ({ petId, status }: InventoryItem): void => {
    const row = this.cells.get(petId);
    if (row === undefined || row.status === '' || row.status.toLowerCase() === status.toLowerCase()) return;
    this.#statusLines.add(row.line);
  };

  /** Warns about statuses and names that differ. Names are compared with those of the codes file or the sandbox. */
  async warn({ messages, petNames }: Pick<Invocation, 'messages' | 'petNames'>): Promise<void> {
    const status = [...this.#statusLines];
    if (status.length > 0)
      await messages.warn(`The status ${this.#where(status)} differs from the service's, and apply does not change it`);
    const hasNames = [...this.cells.values()].some(({ name }) => name !== '');
    const names = hasNames ? await petNames() : undefined;
    const renamed = names === undefined ? [] : this.#renamed(names);
    if (renamed.length > 0)
      await messages.warn(`The name ${this.#where(renamed)} differs from the shop's, and apply does not change it`);
  }

  #renamed(names: PetNames): number[] {
    return [...this.cells].flatMap(([petId, { line, name }]) =>
      name === '' || plainText(name) === plainText(names.get(petId) ?? '') ? [] : line,
    );
  }

  /** Returns, for example, `on lines 3, 7 and 9`. */
  #where(lines: readonly number[]): string {
    const shown = lines
      .toSorted((one, other) => one - other)
      .slice(0, maxNamed)
      .map(String);
    const last = lines.length > maxNamed ? `${lines.length - maxNamed} more` : (shown.pop() ?? '');
    const all = shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
    return `${this.unit === 'line' ? 'on' : 'of'} ${this.unit}${lines.length === 1 ? '' : 's'} ${all}`;
  }
}
