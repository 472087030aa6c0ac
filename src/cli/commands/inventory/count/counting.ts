import { type Account, accountOf, boundCodes, codesOf } from '../../../../counts/account.ts';
import type { OpenCountSession } from '../../../../counts/open-count-session.ts';
import { type CountSessionOutcome, record, type ScanRecord } from '../../../../counts/session-tables.ts';
import { type BarCodes, petOfCode, petOfText } from '../../../../inventory/bar-codes.ts';
import { type BulkRow, isWrong } from '../../../../inventory/change.ts';
import {
  codeText,
  isHelpWord,
  isWord,
  parseScanLine,
  petIdOfCode,
  type ScanLine,
} from '../../../../inventory/count/scan-line.ts';
import { grouped } from '../../../../inventory/items.ts';
import { mayBeName, petsCalled, petsNamed, petsNear } from '../../../../inventory/pet-names.ts';
import type { CountEvent } from '../../../../output/count-text.ts';
import { PetstockError, UsageError } from '../../../../shared/errors.ts';
import { quoted } from '../../../../shared/parsed.ts';

export interface KnownPets {
  /**
   * The stock of all pets of the service when the count began; undefined for an unreadable one. Undefined: not known
   * yet.
   */
  readonly stock: ReadonlyMap<bigint, number | undefined> | undefined;
  /** Whether lines come from a terminal, where a word such as `quit` is no code. */
  readonly isTyped: boolean;
}

export class Counting {
  #account: Account;
  #codes: BarCodes;
  /** The last unknown code. */
  #unknown: string | undefined;

  constructor(
    readonly session: OpenCountSession,
    private readonly known: KnownPets,
  ) {
    this.#codes = codesOf(session);
    this.#account = accountOf(session, (code) => this.#petOf(code));
  }

  /** The balance so far: a new object once a code was taught. */
  get account(): Account {
    return this.#account;
  }

  /** Returns what a run or a file takes of a session, without sums that are not known. */
  takenBy(rows: readonly BulkRow[]): ScanRecord[] {
    const taken = rows.filter((row) => !isWrong(row) || row.after !== undefined);
    return [...boundCodes(this.session, this.#account), ...this.givenOf(taken)];
  }

  givenOf(rows: readonly BulkRow[]): ScanRecord[] {
    return rows.map(({ petId: pet }) => record('given', { pet, units: this.#account.tally.unitsOf(pet) }));
  }

  /** Notes that rows were written, or need not be, and ends the session if nothing is left. */
  noteWritten(rows: readonly BulkRow[], end: CountSessionOutcome): void {
    this.note([...this.takenBy(rows), record('run'), record('settled')]);
    if (this.#account.isEmpty) this.session.end(end);
  }

  /** Adds records that are no scans. On disk when it returns. */
  note(records: readonly ScanRecord[]): void {
    this.#keep(records);
    for (const each of records) this.#account.apply(each);
  }

  /**
   * Counts lines. All are on disk when it returns.
   * @returns the event of each line, and whether one of them ends the count: lines typed after it are ignored
   * @throws UsageError if other lines follow the end
   */
  take(lines: readonly string[]): { readonly events: readonly CountEvent[]; readonly isDone: boolean } {
    const events: CountEvent[] = [];
    const records: ScanRecord[] = [];
    const { isTyped } = this.known;
    const isCode = (text: string) => this.#codes.pets.has(text) || this.#isCalled(text);
    for (const [index, text] of lines.entries()) {
      const line = parseScanLine(text, isCode);
      const word = line.kind === 'add' ? this.#wordOf(text) : undefined;
      if (word !== undefined || line.kind === 'sum') events.push(word ?? { kind: 'sum' });
      else if (line.kind === 'done') {
        this.#keep(records);
        if (!isTyped) requireNothing(lines.slice(index + 1));
        return { events, isDone: true };
      } else if (line.kind === 'code') events.push(this.#teach(text, line, records));
      else events.push(this.#count({ ...line, kind: line.kind }, records));
    }
    this.#keep(records);
    return { events, isDone: false };
  }

  unknowns(): Map<string, number> {
    const named = (code: string) => missingName([code], petOfCode(this.#codes, code));
    return new Map(Array.from(this.account.tally.unknowns(), ([code, units]) => [named(code), units]));
  }

  /** Describes counted pets that the service does not have: `55 (pet 99999, which …)`. */
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

  /** Returns the event of a typed word, which no product has as its code. */
  #wordOf(text: string): CountEvent | undefined {
    const word = text.trim();
    if (!this.known.isTyped || this.#codes.pets.has(word)) return undefined;
    if (isHelpWord(word)) return { kind: 'help' };
    const named = isWord(word) ? this.#named(word) : undefined;
    if (named === undefined || named.length === 1) return undefined;
    return { kind: 'word', word, named, near: named.length > 0 ? [] : petsNear(this.#codes.names, word) };
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

  /** Assigns the last unknown code to a pet. A line that can't mean that is kept apart, unless a person sees it. */
  #teach(text: string, { code }: ScanLine, records: ScanRecord[]): CountEvent {
    const [taught, pet] = [this.#unknown, petIdOfCode(code) ?? this.#onlyNamed(code)];
    const { stock, isTyped } = this.known;
    if (taught === undefined || pet === undefined || stock?.has(pet) === false) {
      const why =
        taught === undefined ? 'scan an unknown code first' : pet === undefined ? 'write code 22' : noPet(pet);
      return isTyped
        ? { kind: 'notTaught', why }
        : this.#count({ kind: 'add', code: codeText(text), units: 1, problem: why }, records);
    }
    const before = this.account.tally.unitsOf(pet);
    records.push(record('code', { code: taught, pet }));
    const { codes, scans } = this.session;
    this.#codes = codesOf({ codes, scans: [...scans, ...records] });
    this.#account = accountOf({ codes, scans: [...scans, ...records] }, (each) => this.#petOf(each));
    return { kind: 'counted', code: taught, step: { what: pet, before, after: this.account.tally.unitsOf(pet) } };
  }

  #count({ kind, code, units, problem }: ScanLine & Pick<ScanRecord, 'kind'>, records: ScanRecord[]): CountEvent {
    const pet = problem === undefined ? this.#petOf(code) : undefined;
    const scan = { kind, code, units, pet };
    records.push(...this.#seenNow(scan), scan);
    const step = this.#account.apply(scan);
    if (step === undefined) return { kind: 'nothingToTakeBack' };
    if (kind === 'back') return { kind: 'takenBack', step };
    this.#unknown = typeof step.what === 'string' ? step.what : undefined;
    if (typeof step.what === 'bigint') return { kind: 'counted', code, step };
    return { kind: 'unknown', code, why: problem ?? this.#whyUnknown(code), units: step.after };
  }

  /** Returns the stock of a pet when its count begins, to be kept with it. */
  #seenNow({ kind, pet }: ScanRecord): readonly ScanRecord[] {
    const { mode } = this.session.head;
    const stock = pet === undefined || kind === 'back' ? undefined : this.known.stock?.get(pet);
    if (mode !== 'count' || stock === undefined || pet === undefined || this.#account.seen.has(pet)) return [];
    const seen = record('seen', { pet, units: stock });
    this.#account.apply(seen);
    return [seen];
  }

  #petOf(code: string): bigint | undefined {
    const { stock } = this.known;
    const petId = petOfText(this.#codes, code) ?? this.#onlyNamed(code);
    return petId === undefined || stock === undefined || stock.has(petId) ? petId : undefined;
  }

  /** Returns the pets that a line names. What no person types may be a code: then it is a name only as a whole. */
  #named(text: string): readonly bigint[] {
    const { names } = this.#codes;
    if (!mayBeName(text)) return [];
    return isWord(text) ? petsNamed(names, text) : petsCalled(names, text);
  }

  /** Reports whether a line is the whole name of a pet: `Sand x 5` is then no five of something. */
  #isCalled(text: string): boolean {
    return mayBeName(text) && petsCalled(this.#codes.names, text).length === 1;
  }

  #onlyNamed(text: string): bigint | undefined {
    const [petId, ...others] = this.#named(text);
    return others.length === 0 ? petId : undefined;
  }

  #whyUnknown(code: string): string {
    const petId = petOfCode(this.#codes, code) ?? this.#onlyNamed(code);
    if (petId !== undefined) return noPet(petId);
    const named = this.#named(code).length;
    if (named > 0) return `${grouped(named)} pets are named so`;
    return petIdOfCode(code) === undefined ? 'no known code' : 'there is no such pet';
  }
}

function noPet(petId: bigint): string {
  return `there is no pet ${petId}`;
}

/** @throws UsageError if scans follow the end of a count, as from a second file: they would be lost silently */
function requireNothing(lines: readonly string[]): void {
  const next = lines.find((line) => !/^(?:done)?$/i.test(codeText(line)));
  if (next === undefined) return;
  throw new UsageError(`"done" ends a count, and ${quoted(next)} follows it. Nothing was written`);
}

function missingName(codes: readonly string[], petId: bigint | undefined): string {
  const name = codes.join(', ');
  return petId === undefined ? name : `${name} (pet ${petId}, which the service does not have)`;
}
