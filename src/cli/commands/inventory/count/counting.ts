import { applyRecord, type ScanRecord, scanRecord } from '../../../../counts/records.ts';
import type { SessionLog } from '../../../../counts/session-log.ts';
import { tallyOf } from '../../../../counts/sessions.ts';
import {
  isHelpWord,
  parseScanLine,
  petIdOfCode,
  type ScanLine,
  withoutCodeKind,
} from '../../../../inventory/count/scan-line.ts';
import type { Tally } from '../../../../inventory/count/tally.ts';
import { grouped } from '../../../../inventory/grouped.ts';
import type { CountEvent } from '../../../../output/count-text.ts';
import { PetstockError } from '../../../../shared/errors.ts';

/** Which codes stand for which pets. */
export interface KnownCodes {
  /** Bar codes of a file. */
  readonly codes: ReadonlyMap<string, bigint>;
  /** The pets that the service has; undefined where that is not known yet. */
  readonly petIds: ReadonlySet<bigint> | undefined;
  /** Lines come from a terminal: `quit` is no code there. */
  readonly isTyped: boolean;
}

/** A session while it is counted. */
export class Counting {
  readonly log: SessionLog;
  readonly tally: Tally;
  readonly #known: KnownCodes;
  /** The codes that were scanned for each pet. */
  readonly #codes = new Map<bigint, Set<string>>();

  constructor(log: SessionLog, known: KnownCodes) {
    this.log = log;
    this.#known = known;
    for (const scan of log.session.scans) this.#noteCode(scan);
    this.tally = tallyOf(log.session, (code) => this.#petOf(code));
  }

  /**
   * Counts lines. All of them are on disk when it returns.
   * @returns what came of each, and whether one of them ends the count: those behind it are not looked at
   */
  take(lines: readonly string[]): { readonly events: readonly CountEvent[]; readonly isDone: boolean } {
    const events: CountEvent[] = [];
    const records: ScanRecord[] = [];
    let isDone = false;
    const { codes, isTyped } = this.#known;
    for (const text of lines) {
      if (isTyped && isHelpWord(text) && !codes.has(text.trim())) {
        events.push({ kind: 'help' });
        continue;
      }
      const line = parseScanLine(text, (code) => codes.has(code));
      isDone = line.kind === 'done';
      if (isDone) break;
      const record = scanRecord(line, 'code' in line && line.kind !== 'fault' ? this.#petOf(line.code) : undefined);
      const event = this.#count(line, record);
      events.push(event);
      if (record === undefined || event.kind === 'nothingToTakeBack') continue;
      records.push(record);
      this.#noteCode(record);
    }
    this.#keep(records);
    return { events, isDone };
  }

  /** Units of the codes of which no pet is known, by what is said of each. */
  unknowns(): Map<string, number> {
    const named = (code: string) => missingName([code], this.#codePet(code));
    return new Map(Array.from(this.tally.unknowns(), ([code, units]) => [named(code), units]));
  }

  /** What is said of a pet that was counted, and that the service does not have: `55 (pet 99999, which …)`. */
  nameOfMissing(petId: bigint): string {
    const codes = [...(this.#codes.get(petId) ?? [])].filter((code) => code !== `${petId}`);
    return codes.length === 0 ? `${petId}` : missingName(codes, petId);
  }

  #noteCode(record: ScanRecord): void {
    if ('back' in record) return;
    const petId = record.pet === undefined ? this.#petOf(record.code) : BigInt(record.pet);
    if (petId === undefined) return;
    const codes = this.#codes.get(petId) ?? new Set();
    this.#codes.set(petId, codes.add(record.code));
  }

  #keep(records: readonly ScanRecord[]): void {
    try {
      this.log.append(records);
    } catch (error) {
      if (!(error instanceof PetstockError)) throw error;
      const lost = records.length === 1 ? 'the last scan is' : `the last ${grouped(records.length)} scans are`;
      throw error.with({ message: `${error.message}; ${lost} not counted` });
    }
  }

  #count(line: ScanLine, record: ScanRecord | undefined): CountEvent {
    if (record === undefined) return { kind: 'sum' };
    const step = applyRecord(this.tally, record, () => undefined);
    if (step === undefined) return { kind: 'nothingToTakeBack' };
    if (!('code' in line)) return { kind: 'takenBack', step };
    const { code } = line;
    if (typeof step.what === 'bigint') return { kind: 'counted', code, step };
    const why = line.kind === 'fault' ? line.fault : this.#whyUnknown(code);
    return { kind: 'unknown', code, why, units: step.after };
  }

  #petOf(code: string): bigint | undefined {
    const petId = this.#codePet(code) ?? petIdOfCode(code) ?? petIdOfCode(withoutCodeKind(code) ?? '');
    const { petIds } = this.#known;
    return petId === undefined || petIds === undefined || petIds.has(petId) ? petId : undefined;
  }

  /** The pet of a bar code of the file. */
  #codePet(code: string): bigint | undefined {
    const { codes } = this.#known;
    return codes.get(code) ?? codes.get(withoutCodeKind(code) ?? '');
  }

  #whyUnknown(code: string): string {
    const petId = this.#codePet(code);
    if (petId !== undefined) return `there is no pet ${petId}`;
    return petIdOfCode(code) === undefined ? 'no known code' : 'there is no such pet';
  }
}

function missingName(codes: readonly string[], petId: bigint | undefined): string {
  const name = codes.join(', ');
  return petId === undefined ? name : `${name} (pet ${petId}, which the service does not have)`;
}
