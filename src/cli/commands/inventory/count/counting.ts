import { type Account, accountOf, assignedCodes, boundCodes, codesOf } from '../../../../counts/account.ts';
import type { OpenCountSession } from '../../../../counts/open-count-session.ts';
import { type CountSessionOutcome, record, type ScanRecord } from '../../../../counts/session-tables.ts';
import { type BarCodes, petOfCode, petOfText } from '../../../../inventory/bar-codes.ts';
import { type BulkRow, isWrong } from '../../../../inventory/change.ts';
import {
  codeProblem,
  codeText,
  hasControls,
  isHelpWord,
  isWord,
  parseScanLine,
  petIdOfCode,
  type ScanLine,
} from '../../../../inventory/count/scan-line.ts';
import { grouped } from '../../../../inventory/items.ts';
import { isCalled, petsNear, petsOfLine } from '../../../../inventory/pet-names.ts';
import type { CountEvent } from '../../../../output/count-text.ts';
import { type ErrorFault, PetstockError, UsageError } from '../../../../shared/errors.ts';
import { quoted, sentence } from '../../../../shared/parsed.ts';

export interface KnownPets {
  /**
   * The stock of each pet of the service when the count of the pet began; undefined for a pet whose stock was
   * unreadable. The map itself is undefined until the list of pets was read.
   */
  stock: ReadonlyMap<bigint, number | undefined> | undefined;
  /** Whether lines come from a terminal, where a word like `quit` is not a code. */
  readonly isTyped: boolean;
}

/** A line that `-` can cancel. */
type TakenLine =
  | { readonly kind: 'scan'; readonly code: string }
  /**
   * `known`: the code was already a code of the pet. `was`: the pet to which the code was assigned before in this
   * session, if any.
   */
  | {
      readonly kind: 'assigned' | 'known';
      readonly code: string;
      readonly pet: bigint;
      readonly was: bigint | undefined;
    }
  | { readonly kind: 'wrong'; readonly code: string; readonly fault: ErrorFault };

export class Counting {
  #account: Account;
  #codes: BarCodes;
  #lines = 0;
  /** The lines of this count since the last plan, without cancelled ones. */
  #taken: TakenLine[] = [];

  constructor(
    readonly session: OpenCountSession,
    readonly known: KnownPets,
  ) {
    this.#codes = codesOf(session);
    this.#account = accountOf(session, (code) => this.#petOf(code));
  }

  /** The current account. It is replaced whenever a code is assigned to a pet. */
  get account(): Account {
    return this.#account;
  }

  /**
   * Returns the records by which a run or a file takes units from the session. Leaves out failed and conflicting rows
   * whose new stock is not known.
   */
  takenBy(rows: readonly BulkRow[]): ScanRecord[] {
    const taken = rows.filter((row) => !isWrong(row) || row.after !== undefined);
    return [...boundCodes(this.session, this.#account), ...this.givenOf(taken)];
  }

  givenOf(rows: readonly BulkRow[]): ScanRecord[] {
    return rows.map(({ petId: pet }) => record('given', { pet, units: this.#account.tally.unitsOf(pet) }));
  }

  /** Records that rows were written, or need not be, and ends the session if nothing is left. */
  noteWritten(rows: readonly BulkRow[], end: CountSessionOutcome): void {
    this.note([...this.takenBy(rows), record('run'), record('settled')]);
    if (this.#account.isEmpty) this.session.end(end);
  }

  /** The mistaken lines since the last plan, without cancelled ones. */
  get mistakes(): readonly ErrorFault[] {
    return this.#taken.flatMap((line) => (line.kind === 'wrong' ? line.fault : []));
  }

  /**
   * Stores records that are not scans. They are on disk when this returns. From then on, `-` can't cancel an earlier
   * line.
   */
  note(records: readonly ScanRecord[]): void {
    this.#taken = [];
    this.#keep(records);
    for (const each of records) this.#account.apply(each);
  }

  /**
   * Processes lines. What they count or assign is on disk when this returns.
   * @returns the event of each line, and whether a line ended the count; typed lines after it are ignored
   * @throws UsageError if other lines follow the end, and they were not typed
   */
  take(lines: readonly string[]): { readonly events: readonly CountEvent[]; readonly isDone: boolean } {
    const events: CountEvent[] = [];
    const records: ScanRecord[] = [];
    const { isTyped } = this.known;
    const isCode = (text: string) => this.#codes.pets.has(text) || isCalled(this.#codes.names, text);
    const isPet = (text: string) => isCode(text) || this.#onlyNamed(text) !== undefined;
    for (const [index, text] of lines.entries()) {
      this.#lines += 1;
      const line = parseScanLine(text, isCode, isPet);
      const word = line.kind === 'add' ? this.#wordOf(text) : undefined;
      if (word !== undefined || line.kind === 'sum') events.push(word ?? { kind: 'sum' });
      else if (line.kind === 'done') {
        this.#keep(records);
        if (!isTyped) requireNothing(lines.slice(index + 1));
        return { events, isDone: true };
      } else if (line.kind === 'code') events.push(this.#assignCode(codeText(text), line, records));
      else if (line.kind === 'wrong') events.push(this.#ignore(line.code, line.problem ?? ''));
      else if (line.kind === 'back') events.push(this.#cancelLast(records));
      else events.push(this.#count({ ...line, kind: line.kind }, records));
    }
    this.#keep(records);
    return { events, isDone: false };
  }

  /**
   * Returns the event of a typed word that is neither a code nor a name of exactly one pet, or of a typed line with
   * control characters; undefined for any other text.
   */
  #wordOf(text: string): CountEvent | undefined {
    const word = text.trim();
    if (!this.known.isTyped || this.#codes.pets.has(word)) return undefined;
    if (hasControls(text)) return this.#ignore(codeText(text), 'it contains a control character: scan it again');
    if (isHelpWord(word)) return { kind: 'help' };
    const named = isWord(word) ? this.#named(word) : undefined;
    if (named === undefined || named.length === 1) return undefined;
    return { kind: 'word', word, named, near: named.length > 0 ? [] : petsNear(this.#codes.names, word) };
  }

  #keep(records: readonly ScanRecord[]): void {
    try {
      this.session.append(records);
    } catch (error) {
      const scans = records.filter(({ kind }) => ['add', 'set', 'back'].includes(kind)).length;
      if (!(error instanceof PetstockError) || scans === 0) throw error;
      const lost = scans === 1 ? 'The last scan is' : `The last ${grouped(scans)} scans are`;
      throw error.with({ message: `${sentence(error.message)} ${lost} not counted` });
    }
  }

  #ignore(code: string, why: string): CountEvent {
    const line = this.#lines;
    const fault = { line, message: `${quoted(code).slice(1, -1)}: ${why}` };
    this.#taken.push({ kind: 'wrong', code, fault });
    return { kind: 'wrong', code, why, line: this.known.isTyped ? undefined : line };
  }

  /** Assigns the unknown code of the previous line to a pet. */
  #assignCode(text: string, { code: operand }: ScanLine, records: ScanRecord[]): CountEvent {
    const pet = petIdOfCode(operand) ?? this.#onlyNamed(operand);
    const last = this.#taken.at(-1);
    const problem = this.#notAssignedBecause(operand, pet, last);
    if (problem !== undefined || pet === undefined || last === undefined) return this.#ignore(text, problem ?? '');
    const { code } = last;
    const before = this.account.tally.unitsOf(pet);
    const kind = this.#petOf(code) === pet ? 'known' : 'assigned';
    this.#taken.push({ kind, code, pet, was: assignedCodes([...this.session.scans, ...records]).get(code) });
    if (kind === 'assigned') this.#assign(record('code', { code, pet }), records);
    return { kind: 'counted', code, step: { what: pet, before, after: this.account.tally.unitsOf(pet) } };
  }

  #notAssignedBecause(operand: string, pet: bigint | undefined, last: TakenLine | undefined): string | undefined {
    if (pet === undefined) {
      const named = this.#named(operand).length;
      const why =
        named > 0 ? `${grouped(named)} pets have that name: ` : operand === '' ? '' : 'no pet has that name: ';
      return `${why}to choose pet 22, for example, write code 22`;
    }
    const lastCode = quoted(last?.code ?? '');
    if (last?.kind === 'assigned')
      return `${lastCode} was just assigned to pet ${last.pet}: type - to cancel that first`;
    if (last?.kind !== 'scan') return 'scan an unknown code first';
    const known = this.#petOf(last.code);
    if (known === pet) return undefined;
    if (known !== undefined) return `${lastCode} already means pet ${known}: scan an unknown code first`;
    return this.known.stock?.has(pet) === false ? noPet(pet) : codeProblem(last.code);
  }

  #assign(code: ScanRecord, records: ScanRecord[]): void {
    records.push(...this.#seenNow(code), code);
    const { codes, scans } = this.session;
    const all = { codes, scans: [...scans, ...records] };
    this.#codes = codesOf(all);
    this.#account = accountOf(all, (each) => this.#petOf(each));
  }

  #cancelLast(records: ScanRecord[]): CountEvent {
    const last = this.#taken.pop();
    if (last?.kind === 'assigned') this.#assign(record('code', { code: last.code, pet: last.was }), records);
    if (last !== undefined && last.kind !== 'scan') {
      return { kind: 'lineCancelled', line: last.kind === 'wrong' ? last.code : `code ${last.pet}` };
    }
    const back = record('back');
    records.push(back);
    const step = this.#account.apply(back);
    return step === undefined ? { kind: 'nothingToCancel' } : { kind: 'cancelled', step };
  }

  #count({ kind, code, units, problem }: ScanLine & Pick<ScanRecord, 'kind'>, records: ScanRecord[]): CountEvent {
    const pet = problem === undefined ? this.#petOf(code) : undefined;
    const scan = { kind, code, units, pet };
    records.push(...this.#seenNow(scan), scan);
    const step = this.#account.apply(scan);
    if (step === undefined) return { kind: 'nothingToCancel' };
    this.#taken.push({ kind: 'scan', code });
    if (typeof step.what === 'bigint') return { kind: 'counted', code, step };
    return { kind: 'unknown', code, why: problem ?? this.#whyUnknown(code), units: step.after };
  }

  /** Notes the stock of a pet whose stock-take begins with this scan. Returns the record; none for any other scan. */
  #seenNow({ pet }: ScanRecord): readonly ScanRecord[] {
    const { mode } = this.session.head;
    const stock = pet === undefined ? undefined : this.known.stock?.get(pet);
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

  #named(text: string): readonly bigint[] {
    return petsOfLine(this.#codes.names, text);
  }

  #onlyNamed(text: string): bigint | undefined {
    const [petId, ...others] = this.#named(text);
    return others.length === 0 ? petId : undefined;
  }

  #whyUnknown(code: string): string {
    const petId = petOfCode(this.#codes, code) ?? this.#onlyNamed(code);
    if (petId !== undefined) return noPet(petId);
    const named = this.#named(code).length;
    if (named > 0) return `${grouped(named)} pets have that name`;
    return petIdOfCode(code) === undefined ? 'not a known code' : 'there is no such pet';
  }
}

function noPet(petId: bigint): string {
  return `there is no pet ${petId}`;
}

/**
 * Checks that no scans follow the end of a count, for example from a second file, because they would be lost silently.
 * @throws UsageError if some do
 */
function requireNothing(lines: readonly string[]): void {
  const next = lines.find((line) => !/^(?:done)?$/i.test(codeText(line)));
  if (next === undefined) return;
  throw new UsageError(`${quoted(next)} follows "done", which ends a count. Nothing was written`);
}
