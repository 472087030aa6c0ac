import { type Json, toInteger } from '../shared/json.ts';
import type { Parsed } from '../shared/parsed.ts';
import { compareStatuses, parsePetStatus, petStatuses } from './statuses.ts';

/** In place of a value: the JSON has another type, or is absent although the field is not optional. */
export const wrongType = Symbol('wrong type');

/** The values that a field can have: how they are read from JSON, and ordered. */
interface FieldKind<Value> {
  /** What JSON must have, for messages: `an int64`. */
  readonly json: string;
  readonly isNumber: boolean;
  /** Returns the value of a JSON value; a `number` is a safe integer. */
  read(json: Json | number): Value | typeof wrongType;
  /** Returns less than 0 if the left value comes first. */
  compare(left: Value, right: Value): number;
}

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const safe = { min: BigInt(Number.MIN_SAFE_INTEGER), max: BigInt(Number.MAX_SAFE_INTEGER) };

const id: FieldKind<bigint> = {
  json: 'an int64',
  isNumber: true,
  read(json) {
    if (typeof json === 'number') return BigInt(json);
    const value = toInteger(json);
    return value !== undefined && value >= int64.min && value <= int64.max ? value : wrongType;
  },
  compare: inOrder,
};

/** A number; the service specifies no bounds. A stock beyond the safe integers is a bigint: shown, and never written. */
export type Quantity = number | bigint;

const count: FieldKind<Quantity> = {
  json: 'an integer',
  isNumber: true,
  read(json) {
    // `+ 0` makes 0 of -0.
    if (typeof json === 'number') return json + 0;
    const value = toInteger(json);
    if (value === undefined) return wrongType;
    return value >= safe.min && value <= safe.max ? Number(value) : value;
  },
  compare: inOrder,
};

const text: FieldKind<string> = {
  json: 'a string',
  isNumber: false,
  read: (json) => (typeof json === 'string' ? json : wrongType),
  compare: inOrder,
};

/** Returns less than 0 if the left value comes first. */
function inOrder<Value extends string | number | bigint>(left: Value, right: Value): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

export const compareIds: (left: bigint, right: bigint) => number = inOrder;

interface ItemField<Value> {
  readonly kind: FieldKind<Value>;
  /** The title of its column in a table. */
  readonly title: string;
  /** Set if an item may lack the field; its value is then undefined. */
  readonly mayBeAbsent?: true;
  /** Whether a change file has it for its reader only, so that `apply` compares it, but does not write it. */
  readonly isReadOnly?: true;
  /** Whether the shop's own codes have it, and not the service. */
  readonly isOfShop?: true;
  /** Set if commands that list pets have an option `--<name>` with several values. */
  readonly filter?: {
    /** What the pets have, for help: `only pets with one of these statuses`. */
    readonly noun: string;
    readonly values?: readonly string[];
    parse(text: string): Parsed<string>;
  };
}

type AnyField = ItemField<bigint> | ItemField<Quantity> | ItemField<string>;

/**
 * The fields of an item, in the order in which they are shown. From this table follow the type `InventoryItem`, reading
 * JSON, `--fields`, `--sort` and filters, the columns of every format, what is compared, and the columns of change files.
 */
export const itemFields = {
  /** An int64 with all digits. It says which pet an item is about. */
  petId: { kind: id, title: 'Pet ID' },
  quantity: { kind: count, title: 'Quantity' },
  /** Usually a `PetStatus`; an unknown one is kept unchanged. */
  status: {
    kind: { ...text, compare: compareStatuses },
    title: 'Status',
    isReadOnly: true,
    filter: { noun: 'statuses', values: petStatuses, parse: parsePetStatus },
  },
  name: { kind: text, title: 'Name', mayBeAbsent: true, isReadOnly: true, isOfShop: true },
} as const satisfies Readonly<Record<string, AnyField>>;

type Fields = typeof itemFields;
/** A field that an item may have in the output. */
export type ShownField = keyof Fields;
type NamesWith<Property> = { [Name in ShownField]: Fields[Name] extends Property ? Name : never }[ShownField];
/** A field of the service. */
export type FieldName = Exclude<ShownField, NamesWith<{ readonly isOfShop: true }>>;
/** A field that `apply` doesn't write. */
export type ReadOnlyField = NamesWith<{ readonly isReadOnly: true }>;
/** A field whose values two lists of one pet may differ in. */
export type ComparedField = Exclude<FieldName, 'petId'>;
/** A compared field with text. */
export type TextField = Exclude<ComparedField, 'quantity'>;

type OptionalField = Extract<FieldName, NamesWith<{ readonly mayBeAbsent: true }>>;

type ValueOf<Field> =
  | (Field extends { readonly kind: FieldKind<infer Value> } ? Value : never)
  | (Field extends { readonly mayBeAbsent: true } ? undefined : never);

/** An item in whose literal no field can be forgotten. */
type WholeItem = { readonly [Name in FieldName]: ValueOf<Fields[Name]> };

/**
 * The stock of one pet, as returned by the service. This is a type, not an interface, so that it is accepted as a row
 * of plain values without being copied.
 */
export type InventoryItem = Omit<WholeItem, OptionalField> & Partial<Pick<WholeItem, OptionalField>>;

export const shownFields = Object.keys(itemFields) as readonly ShownField[];
export const fieldNames = shownFields.filter((name): name is FieldName => !fieldOf(name).isOfShop);
export const readOnlyFields = shownFields.filter((name): name is ReadOnlyField => fieldOf(name).isReadOnly === true);
export const comparedFields = fieldNames.filter((name): name is ComparedField => name !== 'petId');
export const textFields = comparedFields.filter((name): name is TextField => !fieldOf(name).kind.isNumber);

/** Returns the description of a field, without what is known of it at compile time. */
export function fieldOf<Name extends ShownField>(name: Name): ItemField<ValueOf<Fields[Name]>> {
  return itemFields[name] as unknown as ItemField<ValueOf<Fields[Name]>>;
}

/** Returns an item whose fields have the values that `read` returns. */
export function itemOf(read: <Name extends FieldName>(name: Name) => InventoryItem[Name]): WholeItem {
  // One literal, so that all items share their shape in memory.
  return { petId: read('petId'), quantity: read('quantity'), status: read('status') };
}

/** Returns an item of a file, which has its text fields as text. */
export function itemOfTexts(petId: bigint, quantity: number, textOf: (name: TextField) => string): WholeItem {
  return { petId, quantity, status: textOf('status') };
}

/** Returns the value of a field in JSON; a `number` is a safe integer. */
export function readField<Name extends FieldName>(
  name: Name,
  json: Json | number | undefined,
): InventoryItem[Name] | typeof wrongType {
  const { kind, mayBeAbsent } = fieldOf(name);
  if (json === undefined || json === null) return mayBeAbsent ? (undefined as never) : wrongType;
  return kind.read(json) as InventoryItem[Name];
}

/** Orders items by a field. An absent value comes last. */
export function compareBy(name: FieldName): (left: InventoryItem, right: InventoryItem) => number {
  const compare = fieldOf(name).kind.compare as (left: unknown, right: unknown) => number;
  return ({ [name]: left }, { [name]: right }) =>
    left === undefined || right === undefined
      ? Number(left === undefined) - Number(right === undefined)
      : compare(left, right);
}
