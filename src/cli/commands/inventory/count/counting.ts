import { applyRecord, type ScanRecord, scanRecord } from '../../../../counts/records.ts';
import type { SessionLog } from '../../../../counts/session-log.ts';
import { tallyOf } from '../../../../counts/sessions.ts';
import { parseScanLine, petIdOfCode, type ScanLine } from '../../../../inventory/count/scan-line.ts';
import type { Tally } from '../../../../inventory/count/tally.ts';
import type { CountEvent } from '../../../../output/count-text.ts';
import { PetstockError } from '../../../../shared/errors.ts';

/** Which codes stand for which pets. */
export interface KnownCodes {
  /** Bar codes of a file. */
  readonly codes: ReadonlyMap<string, bigint>;
  /** The pets that the service has; undefined where that is not known yet. */
  readonly petIds: ReadonlySet<bigint> | undefined;
}

/** A session while it is counted. */
export class Counting {
  readonly log: SessionLog;
  readonly tally: Tally;
  readonly #known: KnownCodes;

  constructor(log: SessionLog, known: KnownCodes) {
    this.log = log;
    this.#known = known;
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
    for (const text of lines) {
      const line = parseScanLine(text, (code) => this.#known.codes.has(code));
      isDone = line.kind === 'done';
      if (isDone) break;
      const record = scanRecord(line, 'code' in line && line.kind !== 'fault' ? this.#petOf(line.code) : undefined);
      const event = this.#count(line, record);
      events.push(event);
      if (record !== undefined && event.kind !== 'nothingToTakeBack') records.push(record);
    }
    this.#keep(records);
    return { events, isDone };
  }

  #keep(records: readonly ScanRecord[]): void {
    try {
      this.log.append(records);
    } catch (error) {
      if (!(error instanceof PetstockError)) throw error;
      const lost = records.length === 1 ? 'the last scan is' : `the last ${records.length} scans are`;
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
    const petId = this.#known.codes.get(code) ?? petIdOfCode(code);
    const { petIds } = this.#known;
    return petId === undefined || petIds === undefined || petIds.has(petId) ? petId : undefined;
  }

  #whyUnknown(code: string): string {
    const petId = this.#known.codes.get(code);
    if (petId !== undefined) return `there is no pet ${petId}`;
    return petIdOfCode(code) === undefined ? 'no known code' : 'there is no such pet';
  }
}
