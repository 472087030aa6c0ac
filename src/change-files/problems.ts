import type { ErrorFault } from '../shared/errors.ts';
import { quoted } from '../shared/parsed.ts';

/** The unit in which places of a file are counted: its lines, or the items of a JSON list that is written on one line. */
export type PlaceUnit = 'line' | 'item';

/**
 * A fault of a file. Its line counts from 1, blank ones too; if the unit is `item`, it is the number of the item. The column is spelled as in
 * the file, but short and harmless. The message is for a shop assistant, without the line and without a trailing period.
 */
export type FileProblem = ErrorFault;

/** How a file can be read all the same: with `--ignore-columns`, or once a question is answered, which is never guessed. */
export type Remedy = { readonly kind: 'ignore' } | { readonly kind: 'ask'; readonly question: string };

export interface FileProblems {
  readonly unit: PlaceUnit;
  /** The first thousand, in the order of lines. */
  readonly problems: readonly FileProblem[];
  readonly total: number;
  /** How the file can be read all the same, if its names alone stand in the way. */
  readonly remedy: Remedy | undefined;
}

const maxKept = 1000;

/** Counts every fault and keeps the first thousand: a file can have a million, more than anyone reads. */
export class ProblemList implements FileProblems {
  total = 0;
  unit: PlaceUnit = 'line';
  remedy: Remedy | undefined;
  readonly #kept: FileProblem[] = [];

  add({ line, column, message }: FileProblem): void {
    this.total += 1;
    if (this.#kept.length >= maxKept) return;
    this.#kept.push({ line, column: column === undefined ? undefined : quoted(column).slice(1, -1), message });
  }

  get problems(): readonly FileProblem[] {
    return this.#kept.toSorted((left, right) => left.line - right.line);
  }

  /** Returns the faults if there are any, else what the file holds. */
  or<T>(held: T): ({ readonly ok: true } & T) | ({ readonly ok: false } & FileProblems) {
    const { unit, problems, total, remedy } = this;
    return total === 0 ? { ok: true, ...held } : { ok: false, unit, problems, total, remedy };
  }
}

/** Thrown if a file can't be read any further; the fault says why. */
export class BrokenFileError extends Error {
  constructor(readonly fault: FileProblem) {
    super(fault.message);
    this.name = 'BrokenFileError';
  }
}

/** @throws BrokenFileError always */
export function broken(line: number, message: string): never {
  throw new BrokenFileError({ line, message });
}
