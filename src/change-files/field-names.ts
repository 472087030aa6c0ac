import { quoted } from '../inventory/parsed.ts';
import { editDistance } from '../shared/did-you-mean.ts';
import { shellWord } from '../shared/shell-word.ts';
import type { Remedy } from './fault.ts';

/** What a row can tell. */
export const fields = ['petId', 'quantity', 'delta', 'expected', 'reason', 'ref', 'status'] as const;
export type Field = (typeof fields)[number];
/** What of a row is read: the status is there for people. */
export type RowField = Exclude<Field, 'status'>;

export const rowFields: readonly RowField[] = ['petId', 'quantity', 'delta', 'expected', 'reason', 'ref'];

/** A row in which nothing is filled in. */
export const blankCells: Readonly<Record<RowField, string>> = {
  petId: '',
  quantity: '',
  delta: '',
  expected: '',
  reason: '',
  ref: '',
};

/** The names that petstock gives the fields. */
export const ownNames: Readonly<Record<RowField, string>> = {
  petId: 'petId',
  quantity: 'quantity',
  delta: 'delta',
  expected: 'expected',
  reason: 'reason',
  ref: 'ref',
};

/** By name as `plainName` has it. */
const byName: ReadonlyMap<string, Field> = new Map<string, Field>([
  ...fields.map((field) => [field.toLowerCase(), field] as const),
  ['id', 'petId'],
  ['qty', 'quantity'],
  ['adjust', 'delta'],
]);

/** Other words that people have for the same: not read, but understood. */
const synonyms: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['pet', 'petId'],
  ['petnumber', 'petId'],
  ['amount', 'quantity'],
  ['count', 'quantity'],
  ['newquantity', 'quantity'],
  ['newstock', 'quantity'],
  ['stock', 'quantity'],
  ['adjustment', 'delta'],
  ['change', 'delta'],
  ['difference', 'delta'],
  ['expect', 'expected'],
  ['oldquantity', 'expected'],
  ['comment', 'reason'],
  ['note', 'reason'],
  ['reference', 'ref'],
]);

/** The field of a column or a JSON member, whatever its case, spaces, `_` and `-`; undefined for an unknown one. */
export function fieldOf(name: string): Field | undefined {
  return byName.get(name) ?? byName.get(plainName(name));
}

/** The field of that name that a row is read from; undefined for another name. */
export function rowFieldOf(name: string): RowField | undefined {
  const field = fieldOf(name.trim());
  return field === 'status' ? undefined : field;
}

/** The field that an unknown name was probably meant to be. */
export function nearestField(name: string): Field | undefined {
  const typed = plainName(name);
  const synonym = synonyms.get(typed);
  // No name is more than a few letters long, so neither is anything near one.
  if (synonym !== undefined || typed.length < 3 || typed.length > 12) return synonym;
  let nearest: Field | undefined;
  let distance = typed.length < 5 ? 2 : 3;
  for (const [known, field] of byName) {
    const letters = editDistance(typed, known);
    if (letters < distance) {
      nearest = field;
      distance = letters;
    }
  }
  return nearest;
}

/** Why a column or JSON field can't be there. */
function unknownName(name: string, kind: 'column' | 'field'): string {
  const nearest = nearestField(name);
  const known = `the ${kind}s are petId, quantity or delta, and optionally expected, reason, ref, status`;
  return `${quoted(name)} is not a ${kind} that petstock knows: ${nearest === undefined ? known : `did you mean ${nearest}?`}`;
}

/** A name without regard to case, white space, `_` and `-`. */
export function plainName(name: string): string {
  return name.replace(/[\s_-]/g, '').toLowerCase();
}

/** A row as text: blank is empty. */
export interface RawRow {
  /** The line on which it begins, or its number: as `FaultList.unit` says. */
  readonly line: number;
  readonly cells: Readonly<Record<RowField, string>>;
  /** No part of a change; a list of stock has it. */
  readonly status: string;
  /** How the file spells the names of the fields. */
  readonly names: Readonly<Record<RowField, string>>;
}

/** How a file names its columns, where it does so in its own way. */
export interface NamingOptions {
  /** The names that the file has for fields. Of such a field, petstock's own name counts no more. */
  readonly columns?: ReadonlyMap<RowField, string> | undefined;
  /** Unknown columns are passed over, except for those that may be meant for `expected`: a precondition is never lost. */
  readonly ignoreColumns?: boolean | undefined;
  /** It is a list of stock, not a change file: it may have no header line. */
  readonly isStockList?: boolean | undefined;
}

/** What the columns of a table, or the members of JSON objects, stand for. */
export class FieldNames {
  readonly isStockList: boolean;
  readonly #chosen: ReadonlyMap<string, RowField>;
  readonly #columns: ReadonlyMap<RowField, string>;
  readonly #ignoresUnknown: boolean;
  readonly #found = new Set<Field>();
  readonly #unknown = new Set<string>();

  constructor({ columns = new Map(), ignoreColumns = false, isStockList = false }: NamingOptions = {}) {
    this.isStockList = isStockList;
    this.#columns = columns;
    this.#chosen = new Map([...columns].map(([field, name]) => [plainName(name), field]));
    this.#ignoresUnknown = ignoreColumns;
  }

  /** The field that a name of the file stands for; undefined for an unknown name. */
  fieldOf(name: string): Field | undefined {
    if (this.#chosen.size === 0) return fieldOf(name);
    const field = this.#chosen.get(plainName(name)) ?? this.#ownField(name);
    if (field !== undefined) this.#found.add(field);
    return field;
  }

  /** Whether a name would stand for a field, if the file had it. */
  knows(name: string): boolean {
    return (this.#chosen.get(plainName(name)) ?? this.#ownField(name)) !== undefined;
  }

  /** Why an unknown name can't be there; undefined where it is passed over. */
  faultOf(name: string, kind: 'column' | 'field'): string | undefined {
    const meant = fieldOf(name);
    const column = meant === undefined || meant === 'status' ? undefined : this.#columns.get(meant);
    if (this.#unknown.size < mostUnknown) this.#unknown.add(name);
    const isPrecondition = meant === 'expected' || mayMeanExpected(name);
    if (this.#ignoresUnknown && !isPrecondition) return undefined;
    if (column !== undefined) {
      return `${meant} is read from ${quoted(column)}, so there can be no ${kind} ${quoted(name)} beside it`;
    }
    const ignored = this.#ignoresUnknown ? ', and what may be a precondition is never ignored' : '';
    return `${unknownName(name, kind)}${ignored}`;
  }

  /** For each column that was named and has not been found in the file: that it is missing. */
  missing(kind: 'column' | 'field'): string[] {
    return [...this.#columns]
      .filter(([field]) => !this.#found.has(field))
      .map(([field, name]) => `there is no ${kind} ${quoted(name)}, which was named for ${field}`);
  }

  /**
   * Returns how a file with unknown names can be read.
   * @param found the fields that it has under names that are known
   * @returns undefined if there is no way, such as for two columns that may both be a precondition
   */
  remedy(found: ReadonlySet<Field>, kind: 'column' | 'field'): Remedy | undefined {
    const known = new Set([...found, ...this.#columns.keys()]);
    const needsId = !known.has('petId');
    const needsStock = !known.has('quantity') && !known.has('delta');
    const preconditions = [...this.#unknown].filter(mayMeanExpected);
    const others = [...this.#unknown].filter((name) => !mayMeanExpected(name) && isTypeable(name));
    const [precondition, ...more] = preconditions;
    const wanted = Number(needsId) + Number(needsStock);
    if (more.length > 0 || others.length < wanted) return undefined;
    const isAskable = precondition === undefined || (isTypeable(precondition) && !known.has('expected'));
    if (!isAskable) return undefined;
    const names = inWords(others);
    const questions = [
      ...(needsId ? [`Which ${kind} is the pet id: ${names}? \`--column petId=<name>\``] : []),
      ...(needsStock
        ? [
            `Which ${kind} is the stock: ${names}? \`--column quantity=<name>\`, or \`--column delta=<name>\` for a delivery`,
          ]
        : []),
      ...(precondition === undefined
        ? []
        : [
            `Is ${quoted(precondition)} the stock that a row expects? \`--column ${shellWord(`expected=${precondition}`)}\``,
          ]),
    ];
    if (questions.length === 0) return this.#unknown.size > 0 ? { kind: 'ignore' } : undefined;
    const rest = others.length > wanted ? '. `--ignore-columns` lets the others pass' : '';
    return { kind: 'ask', question: questions.join('. ') + rest };
  }

  #ownField(name: string): Field | undefined {
    const field = fieldOf(name);
    return field !== undefined && field !== 'status' && this.#columns.has(field) ? undefined : field;
  }
}

/** Returns `a`, `a or b`, `a, b or c`; of many the first. */
function inWords(names: readonly string[]): string {
  const shown = names.slice(0, mostNamed);
  const last = names.length > shown.length ? 'another' : shown.pop();
  return [shown.join(', '), last].filter(Boolean).join(' or ');
}

const mostNamed = 8;
/** Of so many unknown names, the others are of no use. */
const mostUnknown = 100;

/** Whether a name can be an argument that is read as it stands. */
function isTypeable(name: string): boolean {
  return name.length <= 40 && /^[\p{L}\p{N}][\p{L}\p{N} _.()/#-]*$/u.test(name);
}

/** Whether a name, or a word of it, may be a misspelt `expected`. */
function mayMeanExpected(name: string): boolean {
  const words = name.split(/[^\p{L}\p{N}]+|_|(?<=\p{Ll})(?=\p{Lu})/u);
  return /exp(?:e?ct|ekt)/.test(plainName(name)) || [name, ...words].some((word) => nearestField(word) === 'expected');
}
