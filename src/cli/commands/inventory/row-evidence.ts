import type { ReadRows } from '../../../change-files/read-changes.ts';
import { formatOfName } from '../../../change-files/read-rows.ts';
import { RoundedIds } from '../../../change-files/rounded-ids.ts';
import type { BulkRow } from '../../../inventory/change.ts';
import { type InventoryItem, type ReadOnlyField, type TextField, textFields } from '../../../inventory/item-fields.ts';
import { counted, enumerated, listed, mayBeBarCode, signed } from '../../../inventory/items.ts';
import { plainText } from '../../../inventory/pet-names.ts';
import type { PlanProblem } from '../../../inventory/plan.ts';
import { petstock, targetWords } from '../../../shared/hint.ts';
import { quoted } from '../../../shared/parsed.ts';
import { faultyFile } from '../../input-file.ts';
import type { Invocation } from '../../invocation/invocation.ts';

/** Maximum number of lines or pets that a warning lists. */
const maxNamed = 20;

/** The names of the shop by pet; undefined if it has none, or if they are to be ignored. */
type Names = ReadonlyMap<bigint, string> | undefined;

/** A row with the name of another pet. */
interface MisnamedRow extends PlanProblem {
  readonly petId: bigint;
  /** The pet with that name, or the first of several. */
  readonly other: bigint;
}

/**
 * Compares the rows of a file with what else is known of their pets, because a row that is valid may still be for
 * another pet: its name, its status, ids that a program has rounded, the stock that it expects.
 */
export class RowEvidence {
  /** The lines with the name of another pet, with a clause that has both names. */
  readonly #misnamed: readonly MisnamedRow[];
  readonly #renamed: readonly number[];
  readonly #confirmed: ReadonlySet<bigint>;
  /** The lines with another text than the service's, by field. */
  readonly #restated = new Map<TextField, Set<number>>();
  readonly #rounded: RoundedIds;
  readonly #cells: ReadonlyMap<bigint, ReadRows['readOnlyCells'][number]>;

  constructor(
    private readonly file: ReadRows,
    private readonly names: Names,
  ) {
    const { misnamed, renamed, confirmed } = compareNames(file.readOnlyCells, names);
    this.#misnamed = misnamed;
    this.#renamed = renamed;
    this.#confirmed = confirmed;
    this.#rounded = new RoundedIds(file.changes.map(({ petId }) => petId));
    this.#cells = new Map(file.readOnlyCells.map((cells) => [cells.petId, cells]));
  }

  /** Compares an item of the service's list with the file. It is bound, so that it can be passed as a callback. */
  readonly see = (item: InventoryItem): void => {
    this.#rounded.see(item);
    const row = this.#cells.get(item.petId);
    if (row === undefined) return;
    for (const field of textFields) {
      const [text, known] = [row[field], item[field] ?? ''];
      if (text === '' || text.toLowerCase() === known.toLowerCase()) continue;
      this.#restated.set(field, (this.#restated.get(field) ?? new Set()).add(row.line));
    }
  };

  /** Returns that an id was probably rounded; undefined if it does not look so. See `RoundedIds`. */
  #roundingOf(petId: bigint): string | undefined {
    return this.#rounded.roundingOf(petId, (one) => this.#petText(one));
  }

  /** Reports whether the name of a row is that of a pet whose id was rounded to the row's. */
  #isRounded({ petId, other }: MisnamedRow): boolean {
    return this.#rounded.exactOf(petId).includes(other);
  }

  /**
   * Checks that each row means a pet that the service has, and the one whose name it has. A person at a terminal is
   * asked about names instead.
   * @throws UsageError with every error of the plan
   */
  requireMeant(invocation: Invocation, { file, command, problems }: PlannedFile): void {
    const misnamed = invocation.questions.willAsk() ? [] : this.#misnamed;
    const all = [
      ...problems.map((fault) => {
        const { absent } = fault;
        return [fault, absent === undefined ? undefined : this.#roundingOf(absent)] as const;
      }),
      ...misnamed.map((fault) => [fault, this.#isRounded(fault) ? 'the id was probably rounded' : undefined] as const),
    ].toSorted(([one], [other]) => one.line - other.line);
    if (all.length === 0) return;
    const faults = all.map(([{ line, message }, rounding]) => {
      return { line, message: rounding === undefined ? message : `${message}: ${rounding}` };
    });
    const absent = problems.flatMap((fault) => fault.absent ?? []);
    const code = absent.find(mayBeBarCode);
    const why = code === undefined ? '' : `. ${code} looks like a bar code, but apply takes pet ids`;
    const { target, hasCodes } = invocation;
    const deltas = this.file.changes.some(({ delta }) => delta !== undefined) ? '--add' : [];
    const codes = hasCodes ? [] : ['--codes', '<codes.csv>'];
    let hint: string | undefined;
    if (all.some(([, rounding]) => rounding !== undefined)) hint = exactExport(invocation, file);
    else if (code !== undefined) hint = petstock`inventory count ${deltas} ${codes} ${targetWords(target)}`;
    else if (absent.length > 0) hint = petstock`${command} --skip-unknown`;
    else if (problems.length === 0) hint = petstock`${command} --ignore-names`;
    const { unit } = this.file;
    throw faultyFile(file, { problems: faults, total: faults.length, unit }, `nothing was written${why}`, hint);
  }

  /**
   * Shows what a person should know before the rows are written. Off a terminal, where no plan is shown, that includes
   * what a plan says apart.
   * @returns facts for the question
   */
  async tell({ messages, context, target }: Invocation, rows: readonly BulkRow[]): Promise<readonly string[]> {
    const isPlanShown = context.stderr.isTerminal;
    const warn = (text: string) => messages.warn(text);
    const note = (text: string) => messages.show(() => [`${text}.`], { always: true });
    for (const [field, lines] of this.#restated) await warn(this.#differing(field, "service's", [...lines]));
    if (this.#renamed.length > 0) await warn(this.#differing('name', "shop's", this.#renamed));
    const misnamed = this.#misnamed.map(({ line, message }) => `${this.#place(line)}: ${message}`);
    const rounded = rows.flatMap((row) => this.#roundingText(row) ?? []);
    for (const texts of [misnamed, rounded]) for (const text of listed(texts)) await warn(text);
    for (const text of listed(this.#addedUpTexts())) await (isPlanShown ? note : warn)(text);
    const unexpected = unexpectedText(rows, target.env);
    if (unexpected !== undefined) await warn(unexpected);
    const { length } = misnamed;
    return length === 0 ? [] : [`with the name of another pet in ${counted(length, 'row')}`];
  }

  #differing(field: ReadOnlyField, whose: string, lines: readonly number[]): string {
    return `The ${field} ${this.#where(lines)} differs from the ${whose}, and apply does not change it`;
  }

  #addedUpTexts(): readonly string[] {
    return this.file.addedUp.map(({ petId, lines, deltas }) => {
      const sum = deltas.reduce((one, other) => one + other, 0);
      return `The deltas ${this.#where(lines)} are added up for pet ${petId}: ${deltas.map(signed).join(' ')} = ${signed(sum)}`;
    });
  }

  /**
   * Warns of an id that other pets round to, unless the row has the pet's own name, or the file has the other pets, too.
   */
  #roundingText({ line, petId, before, result }: BulkRow): string | undefined {
    const exact = this.#rounded.exactOf(petId);
    if (exact.length === 0) return undefined;
    if (result === 'skipped' && before === undefined) {
      return `${this.#place(line)}: pet ${petId} is left out, but ${this.#roundingOf(petId)}`;
    }
    const others = exact.filter((one) => !this.file.changes.some((change) => change.petId === one));
    if (result !== 'planned' || others.length === 0 || this.#confirmed.has(petId)) return undefined;
    const pets = others.slice(0, maxNamed).map((one) => this.#petText(one));
    return `${this.#place(line)}: ${this.#petText(petId)} may have been meant as ${pets.join(' or ')}, whose id a program rounds to this one`;
  }

  #petText(petId: bigint): string {
    const name = this.names?.get(petId);
    return name === undefined ? `pet ${petId}` : `pet ${petId} ${quoted(name)}`;
  }

  #place(line: number): string {
    return `${this.file.unit === 'line' ? 'Line' : 'Item'} ${line}`;
  }

  /** Returns, for example, `on lines 3, 7 and 9`. */
  #where(lines: readonly number[]): string {
    const { unit } = this.file;
    return `${unit === 'line' ? 'on' : 'of'} ${unit}${lines.length === 1 ? '' : 's'} ${enumerated(lines.toSorted((one, other) => one - other))}`;
  }
}

/** A file that was planned, with what is wrong with its rows. */
interface PlannedFile {
  readonly file: string;
  /** The words of the command, for hints. */
  readonly command: readonly string[];
  readonly problems: readonly PlanProblem[];
}

/** Returns the command that exports ids in a form that no program rounds. */
function exactExport({ target }: Invocation, file: string): string {
  const isJson = ['json', 'ndjson'].includes(formatOfName(file) ?? '');
  const asText = isJson ? ['-o', 'json', '--string-ids'] : ['--spreadsheet'];
  return petstock`inventory export ${'<file>'} ${asText} ${targetWords(target)}`;
}

/**
 * Compares the names in a file with the shop's. A name may belong to several pets.
 * @returns the rows with the name of another pet, the lines with a name that no pet has, and the pets with their own
 */
function compareNames(rows: ReadRows['readOnlyCells'], names: Names) {
  const misnamed: MisnamedRow[] = [];
  const renamed: number[] = [];
  const confirmed = new Set<bigint>();
  if (names === undefined) return { misnamed, renamed, confirmed };
  const petsOf = new Map<string, bigint[]>();
  for (const [petId, name] of names) petsOf.set(plainText(name), [...(petsOf.get(plainText(name)) ?? []), petId]);
  for (const { line, petId, name } of rows) {
    const pets = petsOf.get(plainText(name)) ?? [];
    const [other] = pets;
    if (name === '') continue;
    if (pets.includes(petId)) {
      confirmed.add(petId);
      continue;
    }
    if (other === undefined) renamed.push(line);
    else {
      const own = names.get(petId);
      const known = own === undefined ? 'has no name' : `is ${quoted(own)}`;
      const message = `pet ${petId} ${known}, but the name here is ${quoted(name)}, which is pet ${other}`;
      misnamed.push({ line, petId, other, message });
    }
  }
  return { misnamed, renamed, confirmed };
}

/**
 * Returns a warning if most rows expect another stock, also those that were not edited, unless they expect what was
 * there before this change.
 */
function unexpectedText(rows: readonly BulkRow[], env: string): string | undefined {
  const expecting = rows.filter(({ expected, before }) => expected !== undefined && before !== undefined);
  const unexpected = expecting.filter(
    ({ result, expected, before, after }) => expected !== before && (result === 'notEdited' || before !== after),
  );
  if (unexpected.length < 2 || unexpected.length * 2 <= expecting.length) return undefined;
  const share = `${unexpected.length} of ${counted(expecting.length, 'row')}`;
  return `${share} expect another stock than ${env} has. Is the file of another environment or store, or an old one?`;
}
