import type { OpenSession } from '../../../../counts/open-session.ts';
import { applyRecord, type ScanRecord } from '../../../../counts/session-tables.ts';
import { tallyOf } from '../../../../counts/sessions.ts';
import type { BarCodes } from '../../../../inventory/bar-codes.ts';
import { codeText, isHelpWord, isWord, parseScanLine, petIdOfCode } from '../../../../inventory/count/scan-line.ts';
import type { Tally } from '../../../../inventory/count/tally.ts';
import { grouped } from '../../../../inventory/items.ts';
import type { CountEvent } from '../../../../output/count-text.ts';
import { PetstockError, UsageError } from '../../../../shared/errors.ts';
import { quoted } from '../../../../shared/parsed.ts';
import { petOfCode, petOfText } from '../../../shop-codes.ts';

export interface KnownCodes {
  readonly codes: BarCodes;
  /** The pets that the service has; undefined if that is not known yet. */
  readonly petIds: ReadonlySet<bigint> | undefined;
  /** Lines come from a terminal: a word such as `quit` is no code there. */
  readonly isTyped: boolean;
}

export class Counting {
  readonly tally: Tally;

  constructor(
    readonly session: OpenSession,
    private readonly known: KnownCodes,
  ) {
    this.tally = tallyOf(session, (code) => this.#petOf(code));
  }

  /**
   * Counts lines. All of them are on disk when it returns.
   * @returns what came of each, and whether one of them ends the count: what is typed after it is ignored
   * @throws UsageError if something that was not typed comes after the end
   */
  take(lines: readonly string[]): { readonly events: readonly CountEvent[]; readonly isDone: boolean } {
    const events: CountEvent[] = [];
    const records: ScanRecord[] = [];
    const { codes, isTyped } = this.known;
    for (const [index, text] of lines.entries()) {
      const word = this.#wordOf(text);
      const line = parseScanLine(text, (code) => codes.pets.has(code));
      const { kind, code, units, fault } = line;
      if (word !== undefined || kind === 'sum') events.push(word ?? { kind: 'sum' });
      else if (kind === 'done') {
        this.#keep(records);
        if (!isTyped) requireNothing(lines.slice(index + 1));
        return { events, isDone: true };
      } else {
        const record = { kind, code, units, pet: this.#petOf(code) };
        events.push(this.#count(record, fault));
        records.push(record);
      }
    }
    this.#keep(records);
    return { events, isDone: false };
  }

  unknowns(): Map<string, number> {
    const named = (code: string) => missingName([code], petOfCode(this.known.codes, code));
    return new Map(Array.from(this.tally.unknowns(), ([code, units]) => [named(code), units]));
  }

  /** Returns how counted pets are named that the service does not have: `55 (pet 99999, which …)`. */
  namesOfMissing(): (petId: bigint) => string {
    const codesOf = new Map<bigint, Set<string>>();
    for (const { pet, code } of this.session.scans) {
      const petId = pet ?? this.#petOf(code);
      if (petId === undefined || code === `${petId}`) continue;
      codesOf.set(petId, (codesOf.get(petId) ?? new Set()).add(code));
    }
    return (petId) => {
      const codes = codesOf.get(petId);
      return codes === undefined ? `${petId}` : missingName([...codes], petId);
    };
  }

  /** Returns the event of a line that a person typed as a word: no goods have such a code. */
  #wordOf(text: string): CountEvent | undefined {
    const { isTyped, codes } = this.known;
    const word = text.trim();
    if (!isTyped || codes.pets.has(word) || /^done$/i.test(word)) return undefined;
    if (isHelpWord(word)) return { kind: 'help' };
    return isWord(word) ? { kind: 'word', word } : undefined;
  }

  #keep(records: readonly ScanRecord[]): void {
    try {
      this.session.append(records);
    } catch (error) {
      if (!(error instanceof PetstockError)) throw error;
      const lost = records.length === 1 ? 'the last scan is' : `the last ${grouped(records.length)} scans are`;
      throw error.with({ message: `${error.message}; ${lost} not counted` });
    }
  }

  #count(record: ScanRecord, fault: string | undefined): CountEvent {
    const step = applyRecord(this.tally, record, () => undefined);
    if (step === undefined) return { kind: 'nothingToTakeBack' };
    const { kind, code } = record;
    if (kind === 'back') return { kind: 'takenBack', step };
    if (typeof step.what === 'bigint') return { kind: 'counted', code, step };
    return { kind: 'unknown', code, why: fault ?? this.#whyUnknown(code), units: step.after };
  }

  #petOf(code: string): bigint | undefined {
    const { codes, petIds } = this.known;
    const petId = petOfText(codes, code);
    return petId === undefined || petIds === undefined || petIds.has(petId) ? petId : undefined;
  }

  #whyUnknown(code: string): string {
    const petId = petOfCode(this.known.codes, code);
    if (petId !== undefined) return `there is no pet ${petId}`;
    return petIdOfCode(code) === undefined ? 'no known code' : 'there is no such pet';
  }
}

/** @throws UsageError if scans follow the end of a count, as of a second file: nobody would miss them */
function requireNothing(lines: readonly string[]): void {
  const next = lines.find((line) => !/^(?:done)?$/i.test(codeText(line)));
  if (next === undefined) return;
  throw new UsageError(`"done" ends a count, and ${quoted(next)} follows it; nothing was written`);
}

function missingName(codes: readonly string[], petId: bigint | undefined): string {
  const name = codes.join(', ');
  return petId === undefined ? name : `${name} (pet ${petId}, which the service does not have)`;
}
