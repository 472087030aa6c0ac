import { type Json, type JsonObject, JsonSyntaxError, numberText, parseJson, TooManyValues } from '../shared/json.ts';
import { quoted } from '../shared/parsed.ts';
import { type Field, type FieldNames, isForReader, type RawRow } from './field-names.ts';
import { ArrayElements, type JsonElement, jsonLines } from './json-elements.ts';
import type { ProblemList } from './problems.ts';
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
    const elements = kind === 'lines' ? jsonLines(text) : new ArrayElements(text, faults, kind === 'object').read();
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
      const field = this.names.fieldOf(name);
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
      if (text === undefined && !isForReader(field)) problem(unfitText(value));
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
