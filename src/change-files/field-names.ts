import { type ReadOnlyField, readOnlyFields } from '../inventory/item-fields.ts';
import { editDistance, shellWord } from '../shared/hint.ts';
import { quoted } from '../shared/parsed.ts';
import type { ProblemList, Remedy } from './problems.ts';

/** The fields from which a change is read. */
export const rowFields = ['petId', 'quantity', 'delta', 'expected', 'reason', 'ref'] as const;
export type RowField = (typeof rowFields)[number];
/** The fields of a row, with those for its reader only. */
export type Field = RowField | ReadOnlyField;
const fields: readonly Field[] = [...rowFields, ...readOnlyFields];

export function isReadOnly(field: Field): field is ReadOnlyField {
  return !rowFields.some((known) => known === field);
}

/** A row as text. A blank field is empty or absent. */
export interface RawRow {
  /** The line on which the row begins, or the number of the item, depending on `FileProblems.unit`. */
  readonly line: number;
  readonly cells: FieldTexts;
  /** The names of the fields as the file spells them. A name may be absent if it is petstock's own. */
  readonly names: FieldTexts;
}

export type FieldTexts = Readonly<Partial<Record<Field, string>>>;

function byPlainName(names: Readonly<Partial<Record<Field, readonly string[]>>>): ReadonlyMap<string, Field> {
  return new Map(fields.flatMap((field) => (names[field] ?? []).map((name) => [name, field] as const)));
}

const known = byPlainName({
  petId: ['petid', 'id'],
  quantity: ['quantity', 'qty'],
  delta: ['delta', 'adjust'],
  expected: ['expected'],
  reason: ['reason'],
  ref: ['ref'],
  ...Object.fromEntries(readOnlyFields.map((field) => [field, [plainName(field)]])),
});

/** Other words for the fields. They are not accepted, but recognized for hints. */
const synonyms = byPlainName({
  petId: ['pet', 'petnumber'],
  quantity: ['amount', 'count', 'newquantity', 'newstock', 'stock'],
  delta: ['adjustment', 'change', 'difference'],
  expected: ['expect', 'oldquantity'],
  reason: ['comment', 'note'],
  ref: ['reference'],
});

/** Normalizes a name: ignores case, white space, `_` and `-`. */
function plainName(name: string): string {
  return name.replace(/[\s_-]/g, '').toLowerCase();
}

/** Returns the field of a column or a JSON member, in any spelling; undefined for an unknown one. */
export function fieldNamed(name: string): Field | undefined {
  return known.get(name) ?? known.get(plainName(name));
}

export function nearestField(name: string): Field | undefined {
  const typed = plainName(name);
  const synonym = synonyms.get(typed);
  // All names are short, so a much longer name can't be a misspelling.
  if (synonym !== undefined || typed.length < 3 || typed.length > 12) return synonym;
  let nearest: Field | undefined;
  let distance = typed.length < 5 ? 2 : 3;
  for (const [spelled, field] of known) {
    const letters = editDistance(typed, spelled);
    if (letters < distance) [nearest, distance] = [field, letters];
  }
  return nearest;
}

/** Options for a file that names its columns differently. */
export interface NamingOptions {
  /** The file's names for fields. petstock's own name of such a field is then no longer accepted. */
  readonly columns?: ReadonlyMap<RowField, string> | undefined;
  /** Whether to ignore unknown columns: `true` excepts those that may mean `expected`, so that no precondition is lost. */
  readonly ignoreColumns?: boolean | 'all' | undefined;
}

/** Maximum number of unknown names to remember. */
const maxUnknown = 100;

/** The meaning of the columns of a table, or of the members of JSON objects. */
export class FieldNames {
  readonly #chosen: ReadonlyMap<string, RowField>;
  readonly #columns: ReadonlyMap<RowField, string>;
  readonly #ignoresUnknown: boolean | 'all';
  /** The chosen names that the names at hand have exactly. Other spellings of them are other names then. */
  #exact: ReadonlySet<string> = new Set();
  readonly #found = new Set<Field>();
  readonly #unknown = new Set<string>();
  /** Whether an error has already listed the valid names. */
  #hasNamedValid = false;

  constructor(
    private readonly kind: 'column' | 'field',
    { columns = new Map(), ignoreColumns = false }: NamingOptions = {},
  ) {
    this.#columns = columns;
    this.#chosen = new Map([...columns].map(([field, name]) => [plainName(name), field]));
    this.#ignoresUnknown = ignoreColumns;
  }

  /** Takes note of all names of a table or of an object. Call this before the field of each is asked for. */
  begin(names: () => readonly string[]): void {
    if (this.#chosen.size === 0) return;
    const chosen = new Set(this.#columns.values());
    this.#exact = new Set(names().filter((name) => chosen.has(name)));
  }

  fieldNamed(name: string): Field | undefined {
    const field = this.#fieldNamed(name);
    if (field !== undefined && this.#chosen.size > 0) this.#found.add(field);
    return field;
  }

  readonly knows = (name: string): boolean => this.#fieldNamed(name) !== undefined;

  #fieldNamed(name: string): Field | undefined {
    const own = fieldNamed(name);
    if (this.#chosen.size === 0) return own;
    const chosen = this.#chosen.get(plainName(name));
    if (chosen === undefined) return this.#columns.has(own as RowField) ? undefined : own;
    const exact = this.#columns.get(chosen) ?? name;
    return exact !== name && this.#exact.has(exact) ? undefined : chosen;
  }

  /** Returns why an unknown name is not allowed; undefined if the name is ignored. Remembers the name for `remedy`. */
  faultOf(name: string): string | undefined {
    if (this.#unknown.size < maxUnknown) this.#unknown.add(name);
    const meant = fieldNamed(name);
    const isGuarded = this.#ignoresUnknown !== 'all' && (meant === 'expected' || mayMeanExpected(name));
    if (this.#ignoresUnknown && !isGuarded) return undefined;
    const column = this.#columns.get(meant as RowField);
    if (column !== undefined) {
      return `${quoted(column)} is already the ${this.kind} for ${meant}. Leave out ${quoted(name)}`;
    }
    const nearest = nearestField(name);
    const valid = `the ${this.kind}s are petId, quantity or delta, and optionally expected, reason, ref, ${readOnlyFields.join(', ')}`;
    const ignored = this.#ignoresUnknown ? `, and a ${this.kind} that may mean expected is never ignored` : '';
    const hint = nearest !== undefined ? `: did you mean ${nearest}?` : this.#hasNamedValid ? '' : `: ${valid}`;
    this.#hasNamedValid ||= nearest === undefined;
    return `${quoted(name)} is not a ${this.kind} that petstock knows${ignored}${hint}`;
  }

  /**
   * Returns why a second name of a field is not allowed; undefined if it is ignored, as one that is only for readers
   * may be.
   */
  faultOfRepeated(field: Field, first: string, name: string): string | undefined {
    const isIgnorable = isReadOnly(field);
    if (isIgnorable && this.#ignoresUnknown) return undefined;
    if (isIgnorable && this.#unknown.size < maxUnknown) this.#unknown.add(name);
    return first === name
      ? `the ${this.kind} ${quoted(name)} appears twice`
      : `the ${this.kind}s ${quoted(first)} and ${quoted(name)} mean the same. Leave one out`;
  }

  /**
   * Adds an error for each chosen column that the file does not have. If no column is missing, sets the remedy.
   * @param found the known fields of the file; in JSON, those found since the first unknown name
   */
  finish(problems: ProblemList, line: number, found: ReadonlySet<Field>): void {
    const missing = [...this.#columns].filter(([field]) => !this.#found.has(field));
    for (const [field, name] of missing) {
      problems.add({ line, message: `there is no ${this.kind} ${quoted(name)}, but --column names it for ${field}` });
    }
    if (missing.length === 0) problems.remedy = this.remedy(found);
  }

  /**
   * Returns how the file can still be read. Undefined if there are no unknown names, or if the file can't be read in
   * any way, such as with two columns that may both be a precondition.
   */
  remedy(found: ReadonlySet<Field> = new Set()): Remedy | undefined {
    if (this.#unknown.size === 0) return undefined;
    const has = new Set<Field>([...found, ...this.#columns.keys()]);
    const [precondition, ...more] = [...this.#unknown].filter(mayMeanExpected);
    const others = [...this.#unknown].filter((name) => !mayMeanExpected(name) && isTypeable(name));
    const isAskable = precondition === undefined || (isTypeable(precondition) && !has.has('expected'));
    const needsStock = !has.has('quantity') && !has.has('delta');
    const wanted = Number(!has.has('petId')) + Number(needsStock);
    if (more.length > 0 || others.length < wanted || !isAskable) return undefined;
    const asked = [
      ...(has.has('petId') ? [] : ['the pet id']),
      ...(needsStock ? [`${has.has('petId') ? '' : 'which is '}the stock`] : []),
    ];
    const options = [
      ...(has.has('petId') ? [] : ['`--column petId=<name>`']),
      ...(needsStock ? ['`--column quantity=<name>`, or `--column delta=<name>` for a delivery'] : []),
    ];
    const questions: string[] = [];
    if (asked.length > 0) {
      questions.push(`Which ${this.kind} is ${asked.join(', and ')}: ${inWords(others)}? ${options.join(' and ')}`);
    }
    if (precondition !== undefined) {
      const option = `--column ${shellWord(`expected=${precondition}`)}`;
      questions.push(`Is ${quoted(precondition)} the stock that a row expects? \`${option}\``);
    }
    if (questions.length === 0) return { kind: 'ignore' };
    const rest = others.length > wanted ? '. To ignore the others, add `--ignore-columns`' : '';
    return { kind: 'ask', question: questions.join('. ') + rest };
  }
}

/** Maximum number of names in a question. The exports of some shops have twenty columns, with the stock in the last. */
const maxNamed = 30;

/** Returns `a`, `a or b`, or `a, b or c`. If there are more names than `maxNamed`, the last word is `another`. */
function inWords(names: readonly string[]): string {
  const shown = names.slice(0, maxNamed).map((name) => (/^[\p{L}\p{N} _-]*$/u.test(name) ? name : `"${name}"`));
  const last = names.length > shown.length ? 'another' : shown.pop();
  return [shown.join(', '), last].filter(Boolean).join(' or ');
}

/** Reports whether a name can be typed as an argument. */
function isTypeable(name: string): boolean {
  return name.length <= maxName && /^[\p{L}\p{N}][\p{L}\p{M}\p{N} _.()/#%&\u20ac:;,+*?[\]-]*$/u.test(name);
}

const maxName = 80;

/**
 * Reports whether a text may be the name of a column, and not a number or a key: its words are letters, with at most two
 * digits at the end, or short numbers.
 */
export function looksLikeName(text: string): boolean {
  if (!isTypeable(text) || !/\p{L}/u.test(text)) return false;
  const words = text.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => word !== '');
  return words.every((word) => /^(?:[\p{L}\p{M}]{1,24}\d{0,2}|\d{1,4}\p{L}{0,2})$/u.test(word));
}

/** Reports whether a name, or a word of it, may be a misspelt `expected`. */
function mayMeanExpected(name: string): boolean {
  const words = name.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u);
  return /exp(?:e?ct|ekt)/.test(plainName(name)) || [name, ...words].some((word) => nearestField(word) === 'expected');
}
