import type { ErrorFault } from '../shared/errors.ts';
import { quoted } from '../shared/parsed.ts';

/** The unit of places in a file: its lines, or the items of a JSON list on a single line. */
export type PlaceUnit = 'line' | 'item';

/**
 * How the file can still be read: with `--ignore-columns`, or once the user has answered a question, because petstock
 * never guesses the answer.
 */
export type Remedy = { readonly kind: 'ignore' } | { readonly kind: 'ask'; readonly question: string };

export interface FileProblems {
  readonly unit: PlaceUnit;
  /**
   * The first thousand problems, in the order of lines. A column is spelled as in the file, but short and safe.
   * A message is for a shop assistant, without the line and without a period.
   */
  readonly problems: readonly ErrorFault[];
  readonly total: number;
  /** How the file can still be read, if only its names are a problem. */
  readonly remedy: Remedy | undefined;
}

const maxKept = 1000;

/** Counts all errors and keeps the first thousand, because a file can have a million. */
export class ProblemList implements FileProblems {
  total = 0;
  unit: PlaceUnit = 'line';
  remedy: Remedy | undefined;
  readonly #kept: ErrorFault[] = [];

  add({ line, column, message }: ErrorFault): void {
    this.total += 1;
    if (this.#kept.length >= maxKept) return;
    this.#kept.push({ line, column: column === undefined ? undefined : quoted(column).slice(1, -1), message });
  }

  get problems(): readonly ErrorFault[] {
    return this.#kept.toSorted((left, right) => left.line - right.line);
  }

  /** Returns the errors if there are any, otherwise the content of the file. */
  or<T>(held: T): ({ readonly ok: true } & T) | ({ readonly ok: false } & FileProblems) {
    const { unit, problems, total, remedy } = this;
    return total === 0 ? { ok: true, ...held } : { ok: false, unit, problems, total, remedy };
  }
}

/** Thrown if the rest of a file can't be read; `fault` describes why. */
export class BrokenFileError extends Error {
  constructor(readonly fault: ErrorFault) {
    super(fault.message);
    this.name = 'BrokenFileError';
  }
}

/** @throws BrokenFileError always: the rest of the file can't be read */
export function broken(line: number, message: string): never {
  throw new BrokenFileError({ line, message });
}

/** Runs `read`. If the rest of the file can't be read, adds the fault to the problems. */
export function withinFile(problems: ProblemList, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
    problems.add(error.fault);
  }
}
