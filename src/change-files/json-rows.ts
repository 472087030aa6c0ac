import {
  endOfValue,
  type Json,
  type JsonObject,
  JsonSyntaxError,
  numberText,
  parseJson,
  skipSpace,
  TooManyValues,
} from '../shared/json.ts';
import { quoted } from '../shared/parsed.ts';
import { type Field, type FieldNames, isReadOnly, type RawRow } from './field-names.ts';
import { broken, type ProblemList } from './problems.ts';
import { countLineEnds } from './text.ts';

/** The kinds of JSON: an array of objects, one object per line, or one object on several lines. */
export type JsonKind = 'array' | 'lines' | 'object';

type Members = readonly (readonly [name: string, value: Json])[];

/** Maximum number of unknown names that are remembered, so that each is reported only once. */
const maxUnknown = 1000;

export class JsonRows {
  readonly #unknownNames = new Set<string>();
  /** The fields of rows since the first row with an unknown name. */
  readonly #foundBesideUnknown = new Set<Field>();

  constructor(
    private readonly faults: ProblemList,
    private readonly names: FieldNames,
    private readonly kind: JsonKind,
  ) {}

  /**
   * Yields the rows of a text.
   * @throws BrokenFileError if the rest can't be understood
   */
  *read(text: string): Generator<RawRow> {
    const { kind, faults, names } = this;
    // A single object is a list of one.
    const elements = kind === 'lines' ? jsonLines(text) : arrayElements(text, faults, kind === 'object');
    for (const element of elements) {
      const members = this.#membersOf(element);
      if (members !== undefined) yield this.#rowOf(members, element.line);
    }
    names.finish(faults, 1, this.#foundBesideUnknown);
  }

  /** Returns the members of an object; undefined, and adds an error, if the text is not a JSON object. */
  #membersOf({ text, line }: JsonElement): Members | undefined {
    if (!text.startsWith('{')) {
      this.faults.add({ line, message: 'there must be an object here, such as {"petId":42,"quantity":7}' });
      return undefined;
    }
    try {
      return Object.entries(parseJson(text) as JsonObject);
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof TooManyValues)) throw error;
      const at = error instanceof JsonSyntaxError ? error.at : text.length;
      const within = this.faults.unit === 'line' && at < text.length ? countLineEnds(text, 0, at) : 0;
      const rest = quoted(text.slice(at, at + 20).trim());
      const wrong = `${rest} can't be here: this is not JSON, or a name appears twice`;
      const message = at < text.length ? wrong : 'the object is cut off, or has too many values';
      this.faults.add({ line: line + within, message });
      return undefined;
    }
  }

  #rowOf(members: Members, line: number): RawRow {
    const cells: Partial<Record<Field, string>> = {};
    const names: Partial<Record<Field, string>> = {};
    this.names.begin(() => members.map(([name]) => name));
    for (const [name, value] of members) {
      const field = this.names.fieldNamed(name);
      if (field === undefined) {
        this.#reportUnknown(name, line);
        continue;
      }
      const problem = (message: string) => this.faults.add({ line, column: name, message });
      const other = names[field];
      if (other !== undefined) {
        const repeated = this.names.faultOfRepeated(field, other, name);
        if (repeated !== undefined) problem(repeated);
        continue;
      }
      names[field] = name;
      const text = value === null ? '' : typeof value === 'string' ? value : numberText(value);
      cells[field] = text ?? '';
      if (text === undefined && !isReadOnly(field)) problem(unfitText(value));
    }
    if (this.#unknownNames.size > 0)
      for (const field of Object.keys(cells)) this.#foundBesideUnknown.add(field as Field);
    return { line, cells, names };
  }

  #reportUnknown(name: string, line: number): void {
    if (this.#unknownNames.has(name)) return;
    if (this.#unknownNames.size < maxUnknown) this.#unknownNames.add(name);
    const message = this.names.faultOf(name);
    if (message !== undefined) this.faults.add({ line, column: name, message });
  }
}

function unfitText(value: Json): string {
  const kind = typeof value === 'boolean' ? 'true or false' : Array.isArray(value) ? 'a list' : 'an object';
  return `${kind} is not allowed here: write a number, or a text in quotes`;
}

/** A JSON value as written, with its place: the line on which it begins, or the number of the item. */
interface JsonElement {
  readonly text: string;
  readonly line: number;
}

/**
 * Splits a JSON array into its elements without parsing them, so that each has a place, and the next one is found even
 * if an element is broken. A place is a line number; if the second element begins on the same line as the first, it is
 * the number of the element, from 1.
 * @param isBare whether the elements have no brackets around them
 * @throws BrokenFileError if the rest can't be understood
 */
function* arrayElements(text: string, faults: ProblemList, isBare: boolean): Generator<JsonElement> {
  let [at, line, count, isAfterComma] = [0, 1, 0, false];
  const goTo = (from: number) => {
    const next = skipSpace(text, from);
    line += countLineEnds(text, at, next);
    at = next;
  };
  const place = () => (faults.unit === 'item' ? count + 1 : line);
  const isOver = () => at >= text.length || (!isBare && text[at] === ']');
  const wrong = (message: string) => broken(place(), message);
  goTo(0);
  if (!isBare) goTo(at + 1);
  for (; !isOver(); count += 1) {
    if (count > 0 && text[at] !== ',') wrong('a comma is missing before this');
    if (count > 0) goTo(at + 1);
    isAfterComma = count > 0;
    if (text[at] === ',') wrong('there is an extra comma');
    if (isOver()) break;
    const end = endOfValue(text, at) ?? wrong('the file breaks off: the value that begins here is not closed');
    if (count === 0 && isFollowedOnLine(text, at, end, isBare)) faults.unit = 'item';
    yield { text: text.slice(at, end), line: place() };
    goTo(end);
    isAfterComma = false;
  }
  if (!isBare && at >= text.length) wrong('the file breaks off: the list is not closed');
  if (isAfterComma) wrong('there is a comma after the last item of the list');
  if (isBare) return;
  goTo(at + 1);
  if (at < text.length) wrong('there is more text after the end of the list');
}

/** Reports whether an element that ends at `end` and begins at `start` is followed by another one on the same line. */
function isFollowedOnLine(text: string, start: number, end: number, bare: boolean): boolean {
  const comma = skipSpace(text, end);
  const next = text[comma] === ',' ? skipSpace(text, comma + 1) : comma;
  const isFollowed = next < text.length && (bare || text[next] !== ']');
  return isFollowed && countLineEnds(text, start, next) === 0;
}

/** Splits NDJSON into its lines. Skips blank lines. */
function* jsonLines(text: string): Generator<JsonElement> {
  // In NDJSON, neither strings nor the text between values contain a line end.
  for (const [index, line] of text.split(/\r\n?|\n/).entries()) {
    const start = skipSpace(line, 0);
    if (start < line.length) yield { text: line.slice(start).trimEnd(), line: index + 1 };
  }
}
