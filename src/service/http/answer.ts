/** The response to a request, without the headers common to all responses. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The pieces of the JSON text. Absent if there is no content. */
  readonly body?: readonly string[];
}

/** Ends a request with an error response: `{"code","message","status"}`. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** A JSON value. An integer is a bigint where a double could not hold all its digits. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** Returns the text of a value. All JSON of the service is made here. */
export function toJson(value: JsonValue): string {
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  let members = '';
  for (const [name, member] of Object.entries(value)) {
    members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${toJson(member)}`;
  }
  return `{${members}}`;
}

/** Number of values in a piece; those of items take about 50 KiB. */
const PIECE = 1_000;

/** Returns the text of a list in pieces, so that a list of any length can be sent. */
export function listToJson(values: Iterable<JsonValue>): readonly string[] {
  const pieces: string[] = [];
  let texts: string[] = [];
  for (const value of values) {
    if (texts.length === PIECE) {
      pieces.push(`${pieces.length === 0 ? '[' : ','}${texts.join(',')}`);
      texts = [];
    }
    texts.push(toJson(value));
  }
  pieces.push(`${pieces.length === 0 ? '[' : ','}${texts.join(',')}]`);
  return pieces;
}
