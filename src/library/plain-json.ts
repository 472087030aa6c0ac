import { isJsonObject, type Json, numberText, toInteger } from '../shared/json.ts';

/** A JSON value as plain data. An integer that is not a safe integer is a bigint. */
export type PlainJson = null | boolean | string | number | bigint | readonly PlainJson[] | PlainJsonObject;
export interface PlainJsonObject {
  readonly [name: string]: PlainJson;
}

export interface PlainOptions {
  /**
   * `string`: integers under `id`, `petId` and other names that end in `Id` become strings. `exact`, the default: such
   * an integer is a number, or a bigint if it is not a safe integer.
   */
  readonly ids?: 'exact' | 'string' | undefined;
}

const isIdName = (name: string): boolean => name === 'id' || name.endsWith('Id');

/**
 * Converts a parsed value to plain data.
 * @param name the name of the member that has the value, if any
 */
export function plainJson(value: Json, { ids }: PlainOptions, name = ''): PlainJson {
  const digits = numberText(value);
  if (digits !== undefined) {
    const integer = toInteger(value);
    if (integer === undefined) return Number(digits);
    if (ids === 'string' && isIdName(name)) return `${integer}`;
    return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
  }
  if (Array.isArray(value)) return value.map((item: Json) => plainJson(item, { ids }, name));
  if (!isJsonObject(value)) return value as null | boolean | string;
  const plain: Record<string, PlainJson> = {};
  for (const [member, item] of Object.entries(value)) {
    // Assigning to `__proto__` would set the prototype instead of a member.
    Object.defineProperty(plain, member, {
      value: plainJson(item, { ids }, member),
      ...{ enumerable: true, configurable: true, writable: true },
    });
  }
  return plain;
}
