import { quoted } from '../inventory/parsed.ts';

/** What the places of a file count: its lines, or the items of a JSON list that is written on one line. */
export type PlaceUnit = 'line' | 'item';

/** What is wrong at one place of a file. */
export interface FileFault {
  /** From 1; every line of the file counts, blank ones too. Where the unit is `item`, the number of the item. */
  readonly line: number;
  /** The column of the header line, or the field of the JSON object, as the file spells it, but short and harmless. */
  readonly column?: string | undefined;
  /** In words for a shop assistant, without the line and without a trailing period. */
  readonly message: string;
}

/** How a file can be read all the same: with `--ignore-columns`, or once a question is answered, which is never guessed. */
export type Remedy = { readonly kind: 'ignore' } | { readonly kind: 'ask'; readonly question: string };

const mostKept = 1000;

/** Counts every fault and keeps the first thousand: a file can have a million, more than anyone reads. */
export class FaultList {
  total = 0;
  /** What `line` means in each of them. */
  unit: PlaceUnit = 'line';
  /** How the file can be read all the same, where its names alone stand in the way. */
  remedy: Remedy | undefined;
  readonly #kept: FileFault[] = [];

  add({ line, column, message }: FileFault): void {
    this.total += 1;
    if (this.#kept.length >= mostKept) return;
    this.#kept.push({ line, column: column === undefined ? undefined : quoted(column).slice(1, -1), message });
  }

  /** The first faults of the file by line, `others` among them. Both lists have to be filled in the order of lines. */
  inOrder(others: FaultList): readonly FileFault[] {
    return [...this.#kept, ...others.#kept].sort((left, right) => left.line - right.line).slice(0, mostKept);
  }
}

/** Thrown where a file can't be read any further; the fault says why. */
export class BrokenFileError extends Error {
  constructor(readonly fault: FileFault) {
    super(fault.message);
    this.name = 'BrokenFileError';
  }
}

/** @throws BrokenFileError always */
export function broken(line: number, message: string): never {
  throw new BrokenFileError({ line, message });
}
