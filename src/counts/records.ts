import type { ScanLine } from '../inventory/count/scan-line.ts';
import type { Counted, CountStep, Tally } from '../inventory/count/tally.ts';

/** The scans are the stock (`count`), have come in (`add`), or have gone out (`take`). */
export type CountMode = 'count' | 'add' | 'take';

/** What is to be known of a session: its id, mode and place. */
export interface SessionHead {
  /** `20260115T120020Z-k3x9` */
  readonly session: string;
  /** When it began: milliseconds since the Unix epoch. */
  readonly at: number;
  readonly mode: CountMode;
  readonly env: string;
  /** Absent: the store without a name. */
  readonly store?: string | undefined;
  /** The service that is counted, by `serviceOf`, and its base URL when the session began. */
  readonly service: string;
  readonly baseUrl: string;
  /** The whole ids of the sessions that were merged into it; of one alone: it has what the run of that has not written. */
  readonly merged: readonly string[];
}

/** How a session has ended. */
export type SessionEnd =
  /** `left`: pets without a row in the run, since what they would come to was not known. */
  | { readonly how: 'applied'; readonly run: string | null; readonly left?: readonly string[] }
  | { readonly how: 'written'; readonly file: string }
  | { readonly how: 'merged'; readonly into: string }
  | { readonly how: 'discarded' };

/** One line that was scanned. `pet`: the pet that the code stood for when it was scanned; absent: none was known. */
export type ScanRecord =
  | { readonly kind: 'add' | 'set'; readonly units: number; readonly code: string; readonly pet?: bigint | undefined }
  /** Units that a merged session begins with. */
  | { readonly kind: 'base'; readonly units: number; readonly code: string; readonly pet?: bigint | undefined }
  | { readonly kind: 'back' };

/** Returns the record of a line; undefined if the line scans nothing. */
export function scanRecord(line: ScanLine, pet: bigint | undefined): ScanRecord | undefined {
  switch (line.kind) {
    case 'add':
    case 'set':
      return { kind: line.kind, units: line.units, code: line.code, pet };
    case 'takeBack':
      return { kind: 'back' };
    case 'fault':
      // What can't be read may have been a pet all the same: it is kept apart, not forgotten.
      return { kind: 'add', units: 1, code: line.code };
    default:
      return undefined;
  }
}

/**
 * Applies a record to a tally.
 * @param petOf returns the pet that a code stands for now, if none was known when it was scanned
 * @returns what has changed; undefined if there was nothing to take back
 */
export function applyRecord(
  tally: Tally,
  record: ScanRecord,
  petOf: (code: string) => bigint | undefined,
): CountStep | undefined {
  if (record.kind === 'back') return tally.takeBack();
  const what: Counted = record.pet ?? petOf(record.code) ?? record.code;
  if (record.kind === 'base') {
    tally.base(what, record.units);
    return undefined;
  }
  return record.kind === 'add' ? tally.add(what, record.units) : tally.set(what, record.units);
}

/** Returns the records that a merged session begins with. */
export function baseRecords(tally: Tally): ScanRecord[] {
  const pets = Array.from(tally.counts(), ([pet, units]) => ({ kind: 'base' as const, units, code: `${pet}`, pet }));
  return [...pets, ...Array.from(tally.unknowns(), ([code, units]) => ({ kind: 'base' as const, units, code }))];
}
