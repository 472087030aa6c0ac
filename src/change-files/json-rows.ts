import { quoted } from '../inventory/parsed.ts';
import type { FaultList } from './fault.ts';
import { blankCells, type Field, type FieldNames, ownNames, type RawRow } from './field-names.ts';
import { ArrayElements, endOfString, endOfValue, JsonLines, skipSpace } from './json-elements.ts';
import { countLineEnds, type RowReader } from './text.ts';

/** An array of objects, an object on each line, or one object on several. */
export type JsonKind = 'array' | 'lines' | 'object';

export function createJsonRows(
  kind: JsonKind,
  { faults, names }: { readonly faults: FaultList; readonly names: FieldNames },
  onRow: (row: RawRow) => void,
): RowReader {
  const objects = new RowObjects(faults, names, onRow);
  const onElement = (text: string, line: number): void => objects.read(text, line);
  // One object is a list of one.
  const reader = kind === 'lines' ? new JsonLines(onElement) : new ArrayElements(faults, onElement, kind === 'object');
  return {
    write: (text) => reader.write(text),
    end: () => {
      reader.end();
      const missing = names.missing('field');
      for (const message of missing) faults.add({ line: 1, message });
      if (missing.length === 0) faults.remedy = names.remedy(objects.foundBesideUnknown, 'field');
    },
  };
}

/** Makes rows of JSON objects. */
class RowObjects {
  /** A million objects may all have the same one: it is reported once. */
  readonly #unknownNames = new Set<string>();
  /** The fields of rows since the first with an unknown name. */
  readonly foundBesideUnknown = new Set<Field>();

  constructor(
    private readonly faults: FaultList,
    private readonly names: FieldNames,
    private readonly onRow: (row: RawRow) => void,
  ) {}

  read(text: string, line: number): void {
    const row = new ObjectRow(line, this.faults);
    try {
      readFlatObject(text, (name, value, unfit) => {
        const field = this.names.fieldOf(name);
        if (field === undefined) this.#unknown(name, line);
        else row.set(field, name, value, unfit);
      });
      if (this.#unknownNames.size > 0) for (const field of row.found) this.foundBesideUnknown.add(field);
      this.onRow(row);
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      const within = this.faults.unit === 'line' ? countLineEnds(text, 0, error.at) : 0;
      this.faults.add({ line: line + within, message: error.message });
    }
  }

  #unknown(name: string, line: number): void {
    if (this.#unknownNames.has(name)) return;
    // Bounded, whatever the file: past the thousandth name each one is reported again.
    if (this.#unknownNames.size < 1000) this.#unknownNames.add(name);
    const message = this.names.faultOf(name, 'field');
    if (message !== undefined) this.faults.add({ line, column: name, message });
  }
}

class ObjectRow implements RawRow {
  readonly cells = { ...blankCells };
  status = '';
  names = ownNames;
  readonly found: Field[] = [];

  constructor(
    readonly line: number,
    private readonly faults: FaultList,
  ) {}

  set(field: Field, name: string, value: string | undefined, unfit: Unfit | undefined): void {
    if (this.found.includes(field)) this.#fault(name, `${quoted(field)} is there twice`);
    this.found.push(field);
    if (field === 'status') {
      this.status = value ?? '';
      return;
    }
    if (name !== field) this.names = { ...this.names, [field]: name };
    this.cells[field] = value ?? '';
    if (unfit !== undefined) this.#fault(name, `${unfit} is not allowed here: write a number, or a text in quotes`);
  }

  #fault(column: string, message: string): void {
    this.faults.add({ line: this.line, column, message });
  }
}

/** What no field of a row can be. */
type Unfit = 'true or false' | 'an object' | 'a list';

/** Called for one member: a string's text, a number as it is written, undefined for null and for what is unfit. */
type OnMember = (name: string, value: string | undefined, unfit: Unfit | undefined) => void;

/** Where in the text the JSON is wrong, and how. */
export class JsonFault extends Error {
  constructor(
    readonly at: number,
    message: string,
  ) {
    super(message);
    this.name = 'JsonFault';
  }
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const word = /null|true|false/y;

/**
 * Reads a JSON object whose values are texts, numbers and null, as rows are. Its members come as they are written,
 * repeated ones too, and its numbers with every digit: `JSON.parse` keeps neither, lossless-json not the first.
 * Nesting is reported instead of read, so that its depth is no matter; what is in it is not looked at.
 * @param text one whole value, without white space around it
 * @throws JsonFault, after the callback had the members before it
 */
export function readFlatObject(text: string, onMember: OnMember): void {
  if (text[0] !== '{') throw new JsonFault(0, 'expected an object here, such as {"petId":42,"quantity":7}');
  new Members(text, onMember).read();
}

class Members {
  #at = 1;

  constructor(
    private readonly text: string,
    private readonly onMember: OnMember,
  ) {}

  read(): void {
    if (this.#next() !== '}') {
      this.#member();
      while (this.#next() === ',') {
        this.#at += 1;
        this.#member();
      }
    }
    this.#take('}', 'a comma or a closing brace');
    if (this.#at < this.text.length) throw new JsonFault(this.#at, 'there is something after the end of the object');
  }

  #member(): void {
    if (this.#next() !== '"') throw new JsonFault(this.#at, 'expected a name in double quotes here');
    const name = this.#string();
    this.#take(':', 'a colon after the name');
    const first = this.#next();
    if (first === '"') this.onMember(name, this.#string(), undefined);
    else if (first === '{') this.#skip(name, 'an object');
    else if (first === '[') this.#skip(name, 'a list');
    else this.#literal(name);
  }

  #literal(name: string): void {
    const digits = this.#match(number);
    if (digits !== undefined) {
      this.onMember(name, digits, undefined);
      return;
    }
    const known = this.#match(word);
    if (known === undefined) {
      throw new JsonFault(this.#at, 'expected a value here: a number, a text in double quotes, or null');
    }
    this.onMember(name, undefined, known === 'null' ? undefined : 'true or false');
  }

  #string(): string {
    const start = this.#at;
    const end = endOfString(this.text, start);
    if (end === undefined) throw new JsonFault(start, 'a quote opens here and is never closed');
    this.#at = end;
    const raw = this.text.slice(start + 1, end - 1);
    return /[\\\x00-\x1f]/.test(raw) ? unescaped(this.text.slice(start, end), start) : raw;
  }

  #skip(name: string, unfit: Unfit): void {
    this.#at = endOfValue(this.text, this.#at) ?? this.text.length;
    this.onMember(name, undefined, unfit);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.text)) return undefined;
    const start = this.#at;
    this.#at = pattern.lastIndex;
    return this.text.slice(start, this.#at);
  }

  #take(character: string, name: string): void {
    if (this.#next() !== character) throw new JsonFault(this.#at, `expected ${name} here`);
    this.#at += 1;
  }

  /** The next character that is no white space. */
  #next(): string | undefined {
    this.#at = skipSpace(this.text, this.#at);
    return this.text[this.#at];
  }
}

function unescaped(literal: string, at: number): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    const message = 'a line break, a tab or a backslash in a text is written in JSON as \\n, \\t, \\\\';
    throw new JsonFault(at, message);
  }
}
