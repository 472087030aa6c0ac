import { isDeepStrictEqual } from 'node:util';

/** A JSON number with all its digits. */
export class JsonNumber {
  /** @param value the text of the number in the JSON */
  constructor(readonly value: string) {}
}

/** A parsed JSON value whose numbers keep all digits. */
export type Json = null | boolean | string | JsonNumber | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** Limits for untrusted text: each value takes fifty times its bytes in memory, and a name takes even more. */
export interface JsonBounds {
  readonly values: number;
  readonly names: number;
  /** The names that no object may have twice with different values. Default: every name. */
  readonly unique?: ReadonlySet<string>;
}

/** No valid response that is parsed as a whole has more than this. */
export const responseBounds: JsonBounds = { values: 1_000_000, names: 50_000 };

export class JsonSyntaxError extends SyntaxError {
  constructor(
    readonly at: number,
    what: 'character' | 'end',
  ) {
    super(`Unexpected ${what} at position ${at}`);
  }
}

export class TooManyValues extends Error {}

/**
 * Parses JSON with all digits of its numbers. Strings are not read by single characters, because a long string would
 * take forty times its size in memory.
 * @throws JsonSyntaxError, also if an object has a name twice with different values; SyntaxError if values are nested
 * too deeply; TooManyValues
 */
export function parseJson(text: string, most = responseBounds): Json {
  const { value, end } = parseJsonAt(text, 0, most);
  if (end < text.length) throw new JsonSyntaxError(end, 'character');
  return value;
}

/**
 * Parses the value that begins at `start`, and ignores the text after it, except for white space.
 * @returns `end`: where the value and the white space after it end
 * @throws like `parseJson`
 */
export function parseJsonAt(text: string, start: number, most = responseBounds): { value: Json; end: number } {
  try {
    return new Reader(text, start, most).first();
  } catch (error) {
    // Nesting that overflows the stack is not valid in a response, either.
    throw error instanceof RangeError ? new SyntaxError(error.message) : error;
  }
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const words = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;
/** Matches a character of a string that must be decoded or rejected: a backslash, or a control character. */
const special = /[\\\x00-\x1f]/;

class Reader {
  #at: number;
  #values = 0;
  /** All names so far. Objects with many different names take far more memory than their text. */
  readonly #names = new Set<string>();

  constructor(
    private readonly text: string,
    start: number,
    private readonly most: JsonBounds,
  ) {
    this.#at = start;
  }

  first(): { value: Json; end: number } {
    this.#skipSpace();
    return { value: this.#value(), end: this.#at };
  }

  /** Reads a value and the white space after it. */
  #value(): Json {
    this.#values += 1;
    if (this.#values > this.most.values) throw new TooManyValues('has more than a million values');
    const first = this.text[this.#at];
    const value =
      first === '"' ? this.#string() : first === '{' ? this.#object() : first === '[' ? this.#array() : this.#scalar();
    this.#skipSpace();
    return value;
  }

  #object(): JsonObject {
    const found: Record<string, Json> = {};
    for (let isFirst = true; this.#hasNext('}', isFirst); isFirst = false) {
      const nameAt = this.#at;
      if (this.text[nameAt] !== '"') throw this.#unexpected();
      const name = this.#string();
      if (this.#names.add(name).size > this.most.names) throw new TooManyValues('has more than 50,000 names');
      this.#skipSpace();
      this.#take(':');
      const value = this.#value();
      const isUnique = this.most.unique?.has(name) ?? true;
      if (isUnique && Object.hasOwn(found, name) && !isDeepStrictEqual(found[name], value)) {
        throw this.#unexpected(nameAt + 1);
      }
      if (name === '__proto__') {
        Object.defineProperty(found, name, { value, writable: true, enumerable: true, configurable: true });
      } else found[name] = value;
    }
    return found;
  }

  #array(): Json[] {
    const found: Json[] = [];
    while (this.#hasNext(']', found.length === 0)) found.push(this.#value());
    return found;
  }

  /**
   * Reads the bracket or comma before the next member, or the closing bracket.
   * @returns whether there is another member
   */
  #hasNext(closing: string, isFirst: boolean): boolean {
    if (isFirst) {
      this.#at += 1;
      this.#skipSpace();
    }
    if (this.text[this.#at] === closing) {
      this.#at += 1;
      return false;
    }
    if (!isFirst) this.#take(',');
    return true;
  }

  #take(character: string): void {
    if (this.text[this.#at] !== character) throw this.#unexpected();
    this.#at += 1;
    this.#skipSpace();
  }

  #string(): string {
    const start = this.#at + 1;
    let end = this.text.indexOf('"', start);
    const plain = this.text.slice(start, end < 0 ? start : end);
    if (end >= 0 && !special.test(plain)) {
      this.#at = end + 1;
      return plain;
    }
    while (end >= 0 && this.#isEscaped(end)) end = this.text.indexOf('"', end + 1);
    if (end < 0) throw this.#unexpected(this.text.length);
    this.#at = end + 1;
    try {
      return JSON.parse(this.text.slice(start - 1, end + 1)) as string;
    } catch {
      throw this.#unexpected(start);
    }
  }

  /** Reports whether an odd number of backslashes precedes a position. */
  #isEscaped(at: number): boolean {
    let before = at;
    while (this.text[before - 1] === '\\') before -= 1;
    return (at - before) % 2 === 1;
  }

  #scalar(): Json {
    number.lastIndex = this.#at;
    if (number.test(this.text)) {
      const digits = this.text.slice(this.#at, number.lastIndex);
      this.#at = number.lastIndex;
      return new JsonNumber(digits);
    }
    for (const [word, value] of words) {
      if (!this.text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    throw this.#unexpected();
  }

  #skipSpace(): void {
    this.#at = skipSpace(this.text, this.#at);
  }

  #unexpected(at = this.#at): JsonSyntaxError {
    return new JsonSyntaxError(at, at < this.text.length ? 'character' : 'end');
  }
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isJsonNumber(value);
}

/** Reports whether a value is a number, by its class, because an object may have any fields. */
function isJsonNumber(value: Json | undefined): value is JsonNumber {
  return value instanceof JsonNumber;
}

export function numberText(value: Json | undefined): string | undefined {
  return isJsonNumber(value) ? value.value : undefined;
}

/**
 * Returns a JSON number as an exact integer. `5.0` and `5e0` are integers in JSON.
 * @returns undefined if the value is not a number, has a fraction, has more than 40 digits before or after its point,
 * or has an exponent of more than three digits
 */
export function toInteger(value: Json | undefined): bigint | undefined {
  if (!isJsonNumber(value)) return undefined;
  const text = value.value;
  if (/^-?\d{1,40}$/.test(text)) return BigInt(text);
  const match = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const point = whole.length + Number(exponent);
  const digits = (whole + fraction).padEnd(point, '0');
  if (/[1-9]/.test(digits.slice(Math.max(point, 0)))) return undefined;
  return BigInt(`${sign}0${digits.slice(0, Math.max(point, 0))}`);
}

/** Returns where the white space that begins at `start` ends. */
export function skipSpace(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code <= 0x20; code = text.charCodeAt(at)) {
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
    at += 1;
  }
  return at;
}

/** Matches a string, a bracket, or the opening quote of an unterminated string. */
const part = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|["[\]{}]/g;

/** Matches the character after a value that is neither a string nor in brackets. */
const end = /[,[\]{}" \n\r\t]/g;

/**
 * Returns where the JSON value that begins at `start` ends, judged by quotes and brackets only. Any text that begins
 * with neither ends before a comma, a bracket, a quote or white space. Undefined if the text ends first.
 */
export function endOfValue(text: string, start: number): number | undefined {
  if (!'"{['.includes(text.charAt(start))) {
    end.lastIndex = start + 1;
    return end.exec(text)?.index;
  }
  part.lastIndex = start;
  let depth = 0;
  for (let found = part.exec(text); found !== null; found = part.exec(text)) {
    const [piece] = found;
    if (piece === '"') return undefined;
    if (piece === '{' || piece === '[') depth += 1;
    else if (piece === '}' || piece === ']') depth -= 1;
    if (depth === 0) return part.lastIndex;
  }
  return undefined;
}
