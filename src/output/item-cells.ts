import type { ItemColumns, StatusNames } from '../inventory/item-columns.ts';

/** No Buffer, since V8 optimises code best that sees one kind of array. */
export function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text));
}

/** What the statuses of a batch look like: there are few. */
export class StatusCells {
  /** In bytes. */
  longest = 0;
  #names: StatusNames | undefined;
  #cells: Uint8Array[] = [];

  constructor(readonly textOf: (status: string) => string) {}

  of({ statuses }: ItemColumns): readonly Uint8Array[] {
    if (this.#names !== statuses) {
      this.#names = statuses;
      this.#cells = [];
      this.longest = 0;
    }
    for (let code = this.#cells.length; code < statuses.size; code += 1) {
      const cell = bytesOf(this.textOf(statuses.textOf(code)));
      this.longest = Math.max(this.longest, cell.length);
      this.#cells.push(cell);
    }
    return this.#cells;
  }
}

/** Most stores have few different quantities; the memory must stay flat where they have many. */
const mostQuantities = 10_000;

/** What the quantities of a batch look like where they are more than digits. */
export class QuantityCells {
  /** In bytes. */
  longest = 0;
  readonly #known = new Map<number, Uint8Array>();

  constructor(readonly textOf: (quantity: number) => string) {}

  of({ quantities, length }: ItemColumns): readonly Uint8Array[] {
    return Array.from({ length }, (_, index) => this.#cell(quantities[index] ?? 0));
  }

  #cell(quantity: number): Uint8Array {
    const known = this.#known.get(quantity);
    if (known !== undefined) return known;
    const cell = bytesOf(this.textOf(quantity));
    this.longest = Math.max(this.longest, cell.length);
    if (this.#known.size < mostQuantities) this.#known.set(quantity, cell);
    return cell;
  }
}
