import type { ReadRows } from '../../../change-files/read-changes.ts';
import { RoundedIds } from '../../../change-files/rounded-ids.ts';
import type { BulkRow } from '../../../inventory/change.ts';
import { counted, type InventoryItem } from '../../../inventory/items.ts';
import { plainText } from '../../../inventory/pet-names.ts';
import type { PlanProblem } from '../../../inventory/plan.ts';
import { quoted } from '../../../shared/parsed.ts';
import type { Invocation } from '../../invocation/invocation.ts';

/** Maximum number of lines or pets that a warning lists. */
const maxNamed = 20;

/** The names of the shop by pet; undefined if it has none, or if they are to be ignored. */
type Names = ReadonlyMap<bigint, string> | undefined;

/**
 * Compares the rows of a file with what else is known of their pets, because a row that is valid may still be for
 * another pet: its name, its status, ids that a program has rounded, the stock that it expects.
 */
export class RowEvidence {
  /** The lines with the name of another pet, with a clause that has both names. */
  readonly misnamed: readonly PlanProblem[];
  readonly #renamed: readonly number[];
  readonly #restated = new Set<number>();
  readonly #rounded: RoundedIds;
  readonly #statuses = new Map<bigint, { readonly line: number; readonly status: string }>();

  constructor(
    private readonly file: ReadRows,
    private readonly names: Names,
  ) {
    const { misnamed, renamed } = compareNames(file.forReader, names);
    this.misnamed = misnamed;
    this.#renamed = renamed;
    this.#rounded = new RoundedIds(file.changes.map(({ petId }) => petId));
    for (const { petId, line, status } of file.forReader)
      if (status !== '') this.#statuses.set(petId, { line, status });
  }

  /** Compares an item of the service's list with the file. It is bound, so that it can be passed as a callback. */
  readonly see = (item: InventoryItem): void => {
    this.#rounded.see(item);
    const row = this.#statuses.get(item.petId);
    if (row !== undefined && row.status.toLowerCase() !== item.status.toLowerCase()) this.#restated.add(row.line);
  };

  /** Returns which pets round to an id that the service doesn't have, as the end of a sentence; undefined if none do. */
  roundingOf(petId: bigint): string | undefined {
    const exact = this.#rounded.exactOf(petId);
    if (exact.length === 0) return undefined;
    const shown = exact.slice(0, maxNamed).map((one) => this.#petText(one));
    return `the id was probably rounded: ${shown.join(' and ')} ${exact.length === 1 ? 'rounds' : 'round'} to it`;
  }

  /**
   * Shows what a person should know before the rows are written. Off a terminal, where no plan is shown, that includes
   * what a plan says apart.
   * @returns facts for the question
   */
  async tell({ messages, context, target }: Invocation, rows: readonly BulkRow[]): Promise<readonly string[]> {
    const warn = (text: string) => messages.warn(text);
    if (this.#restated.size > 0)
      await warn(
        `The status ${this.#where([...this.#restated])} differs from the service's, and apply does not change it`,
      );
    if (this.#renamed.length > 0)
      await warn(`The name ${this.#where(this.#renamed)} differs from the shop's, and apply does not change it`);
    await this.#list(
      warn,
      this.misnamed.map(({ line, message }) => `${this.#place(line)}: ${message}`),
    );
    await this.#list(
      warn,
      rows.flatMap((row) => this.#roundingText(row) ?? []),
    );
    const isShown = context.stderr.isTerminal;
    await this.#list(
      isShown ? (text) => messages.show(() => [`${text}.`], { always: true }) : warn,
      this.#addedUpTexts(),
    );
    if (!isShown)
      await this.#list(
        warn,
        rows.flatMap((row) => belowZeroText(row) ?? []),
      );
    const unexpected = unexpectedText(rows, target.env);
    if (unexpected !== undefined) await warn(unexpected);
    return this.misnamed.length === 0
      ? []
      : [`with the name of another pet in ${counted(this.misnamed.length, 'row')}`];
  }

  async #list(tell: (text: string) => Promise<void>, texts: readonly string[]): Promise<void> {
    for (const text of texts.slice(0, maxNamed)) await tell(text);
    if (texts.length > maxNamed) await tell(`… and ${texts.length - maxNamed} more`);
  }

  #addedUpTexts(): readonly string[] {
    return this.file.addedUp.map(({ petId, lines, deltas }) => {
      const sum = deltas.reduce((one, other) => one + other, 0);
      return `The deltas ${this.#where(lines)} are added up for pet ${petId}: ${deltas.map(signed).join(' ')} = ${signed(sum)}`;
    });
  }

  /** Warns of an id that other pets round to, unless the file has these pets, too, or the row has the pet's name. */
  #roundingText({ line, petId, result }: BulkRow): string | undefined {
    if (result === 'skipped') {
      const rounding = this.roundingOf(petId);
      return rounding && `${this.#place(line)}: pet ${petId} is left out, but ${rounding}`;
    }
    const known = new Set(this.file.changes.map((change) => change.petId));
    const exact = this.#rounded.exactOf(petId).filter((one) => !known.has(one));
    if (exact.length === 0 || result !== 'planned') return undefined;
    const pets = exact.slice(0, maxNamed).map((one) => this.#petText(one));
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
    const shown = lines
      .toSorted((one, other) => one - other)
      .slice(0, maxNamed)
      .map(String);
    const last = lines.length > maxNamed ? `${lines.length - maxNamed} more` : (shown.pop() ?? '');
    const all = shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
    const { unit } = this.file;
    return `${unit === 'line' ? 'on' : 'of'} ${unit}${lines.length === 1 ? '' : 's'} ${all}`;
  }
}

/**
 * Compares the names in a file with the shop's. A name may belong to several pets.
 * @returns the rows with the name of another pet, and the lines with a name that no pet has
 */
function compareNames(rows: ReadRows['forReader'], names: Names) {
  const misnamed: PlanProblem[] = [];
  const renamed: number[] = [];
  if (names === undefined) return { misnamed, renamed };
  const petsOf = new Map<string, bigint[]>();
  for (const [petId, name] of names) petsOf.set(plainText(name), [...(petsOf.get(plainText(name)) ?? []), petId]);
  for (const { line, petId, name } of rows) {
    const pets = petsOf.get(plainText(name)) ?? [];
    const [other] = pets;
    if (name === '' || pets.includes(petId)) continue;
    if (other === undefined) renamed.push(line);
    else {
      const own = names.get(petId);
      const known = own === undefined ? 'has no name' : `is ${quoted(own)}`;
      misnamed.push({
        line,
        message: `pet ${petId} ${known}, but the name here is ${quoted(name)}, which is pet ${other}`,
      });
    }
  }
  return { misnamed, renamed };
}

function belowZeroText({ petId, before, after, result }: BulkRow): string | undefined {
  if (result !== 'planned' || after === undefined || after >= 0) return undefined;
  return `Pet ${petId} goes BELOW ZERO: ${before} → ${after}`;
}

/** Returns a warning if most rows expect another stock, unless they expect what was there before this change. */
function unexpectedText(rows: readonly BulkRow[], env: string): string | undefined {
  const expecting = rows.filter(({ expected, result }) => expected !== undefined && result !== 'notEdited');
  const unexpected = expecting.filter(({ result, before, after }) => result === 'conflict' && before !== after);
  if (unexpected.length < 2 || unexpected.length * 2 <= expecting.length) return undefined;
  const share = `${unexpected.length} of ${counted(expecting.length, 'row')}`;
  return `${share} expect another stock than ${env} has. Is the file of another environment or store, or an old one?`;
}

function signed(delta: number): string {
  return delta < 0 ? `${delta}` : `+${delta}`;
}
