import type { ItemColumns, StatusNames } from '../inventory/item-columns.ts';

/** A text as lines take it: four bytes at a time. */
export class Cell {
  /** In bytes. */
  readonly length: number;
  readonly #words: Uint32Array;

  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.length = bytes.length;
    const whole = Buffer.concat([bytes], 4 * Math.ceil(bytes.length / 4));
    this.#words = Uint32Array.from({ length: whole.length / 4 }, (_, index) => whole.readUInt32LE(4 * index));
  }

  /** Writes it, and up to `slack` bytes behind it that mean nothing. @returns where it ends */
  write(out: DataView, at: number): number {
    const words = this.#words;
    for (let index = 0; index < words.length; index += 1) out.setUint32(at + 4 * index, words[index] ?? 0, true);
    return at + this.length;
  }
}

/** What the statuses of a batch look like: there are few. */
export class StatusCells {
  /** In bytes. */
  longest = 0;
  #names: StatusNames | undefined;
  #cells: Cell[] = [];

  constructor(readonly textOf: (status: string) => string) {}

  of({ statuses }: ItemColumns): readonly Cell[] {
    if (this.#names !== statuses) {
      this.#names = statuses;
      this.#cells = [];
      this.longest = 0;
    }
    for (let code = this.#cells.length; code < statuses.size; code += 1) {
      const cell = new Cell(this.textOf(statuses.textOf(code)));
      this.longest = Math.max(this.longest, cell.length);
      this.#cells.push(cell);
    }
    return this.#cells;
  }
}

/** Most stores have few different quantities; the memory must stay flat where they have many. */
const mostQuantities = 10_000;

/** What the quantities of a batch look like where they are more than digits: what a remark says hangs on the status. */
export class QuantityCells {
  /** In bytes. */
  longest = 0;
  #names: StatusNames | undefined;
  /** By the code of a status, then by quantity. */
  #known: Map<number, Cell>[] = [];
  #remembered = 0;

  constructor(readonly textOf: (quantity: number, status: string) => string) {}

  of({ quantities, statuses, statusCodes, length }: ItemColumns): readonly Cell[] {
    if (this.#names !== statuses) {
      this.#names = statuses;
      this.#known = [];
      this.#remembered = 0;
      this.longest = 0;
    }
    return Array.from({ length }, (_, index) => this.#cell(quantities[index] ?? 0, statusCodes[index] ?? 0, statuses));
  }

  #cell(quantity: number, code: number, statuses: StatusNames): Cell {
    const known = this.#known[code]?.get(quantity);
    if (known !== undefined) return known;
    const cell = new Cell(this.textOf(quantity, statuses.textOf(code)));
    this.longest = Math.max(this.longest, cell.length);
    if (this.#remembered < mostQuantities) {
      this.#remembered += 1;
      this.#known[code] ??= new Map();
      this.#known[code].set(quantity, cell);
    }
    return cell;
  }
}
