import { type Json, numberText, toInteger } from '../shared/json.ts';

/** A number whose field can't have it as its value: out of range, or not an integer. */
export class UnreadableNumber {
  constructor(
    /** The number as text, like `9007199254740993`, possibly truncated. */
    readonly text: string,
    /** The JavaScript number nearest to it; may be infinite. */
    readonly nearest: number,
    /** `out of range` or `not an integer`. */
    readonly problem: string,
  ) {}
}

/** In place of a value: the JSON has another type, or is absent although the field is not optional. */
export const wrongType = Symbol('wrong type');

/** The values that a field can have, and how they are read from JSON. */
interface FieldKind<Value> {
  /** What JSON must have, for messages: `an int64`. */
  readonly json: string;
  readonly isNumber: boolean;
  /** Returns the value of a JSON value; a `number` is a safe integer. */
  read(json: Json | number): Value | UnreadableNumber | typeof wrongType;
}

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const safe = { min: BigInt(Number.MIN_SAFE_INTEGER), max: BigInt(Number.MAX_SAFE_INTEGER) };
/** Maximum length of an unreadable number in a message, in characters. */
const maxNumber = 40;

const id: FieldKind<bigint> = {
  json: 'an int64',
  isNumber: true,
  read(json) {
    if (typeof json === 'number') return BigInt(json);
    const value = toInteger(json);
    return value !== undefined && value >= int64.min && value <= int64.max ? value : wrongType;
  },
};

const count: FieldKind<number> = {
  json: 'an integer',
  isNumber: true,
  read(json) {
    // `+ 0` makes 0 of -0.
    if (typeof json === 'number') return json + 0;
    const text = numberText(json);
    if (text === undefined) return wrongType;
    const value = toInteger(json);
    if (value !== undefined && value >= safe.min && value <= safe.max) return Number(value);
    const shown = text.length > maxNumber ? `${text.slice(0, maxNumber)}…` : text;
    const nearest = Number(text);
    // A number beyond 2^53 counts as an integer.
    return new UnreadableNumber(
      shown,
      nearest,
      Math.abs(nearest) <= Number.MAX_SAFE_INTEGER ? 'not an integer' : 'out of range',
    );
  },
};

const text: FieldKind<string> = {
  json: 'a string',
  isNumber: false,
  read: (json) => (typeof json === 'string' ? json : wrongType),
};

interface ItemField<Value> {
  readonly kind: FieldKind<Value>;
  /** Set if items may lack the field; its value is then undefined. */
  readonly mayBeAbsent?: true;
}

/**
 * The fields of an item, in the order in which they are shown. The type `InventoryItem` follows from this table, and so
 * does the reading of JSON.
 */
export const itemFields = {
  /** An int64 with all digits. */
  petId: { kind: id },
  /** A safe integer; the service specifies no bounds, so it may be negative. */
  quantity: { kind: count },
  /** Usually a `PetStatus`; an unknown one is kept unchanged. */
  status: { kind: text },
} as const satisfies Readonly<Record<string, ItemField<unknown>>>;

type Fields = typeof itemFields;
export type FieldName = keyof Fields;
type ValueOf<Field> =
  | (Field extends { readonly kind: FieldKind<infer Value> } ? Value : never)
  | (Field extends { readonly mayBeAbsent: true } ? undefined : never);

/**
 * The stock of one pet, as returned by the service. This is a type, not an interface, so that it is accepted as a row
 * of plain values without being copied.
 */
export type InventoryItem = { readonly [Name in FieldName]: ValueOf<Fields[Name]> };

export const fieldNames = Object.keys(itemFields) as readonly FieldName[];

/** Returns an item whose fields have the values that `read` returns. */
export function itemOf(read: <Name extends FieldName>(name: Name) => InventoryItem[Name]): InventoryItem {
  // One literal, so that all items share their shape in memory.
  return { petId: read('petId'), quantity: read('quantity'), status: read('status') };
}

/** Returns the value of a field in JSON; a `number` is a safe integer. */
export function readField<Name extends FieldName>(
  name: Name,
  json: Json | number | undefined,
): InventoryItem[Name] | UnreadableNumber | typeof wrongType {
  const { kind, mayBeAbsent }: ItemField<unknown> = itemFields[name];
  if (json === undefined || json === null) return (mayBeAbsent ? undefined : wrongType) as InventoryItem[Name];
  return kind.read(json) as InventoryItem[Name];
}
