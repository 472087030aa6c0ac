import { petIdOfCode, withoutCodeKind } from './count/scan-line.ts';

/** A lookup of the store's own name for a pet, by the pet's id. A Map will do. */
export interface PetNames {
  get(petId: bigint): string | undefined;
}

export interface BarCodes {
  readonly pets: ReadonlyMap<string, bigint>;
  readonly names: ReadonlyMap<bigint, string>;
  /** The stock at or below which a pet is low, for pets with their own level. */
  readonly lows: ReadonlyMap<bigint, number>;
}

export const noBarCodes: BarCodes = { pets: new Map(), names: new Map(), lows: new Map() };

/** Joins several sets of codes; the first one with a code or a pet takes precedence. */
export function joinBarCodes(all: readonly BarCodes[]): BarCodes {
  const reversed = all.toReversed();
  return {
    pets: new Map(reversed.flatMap(({ pets }) => [...pets])),
    names: new Map(reversed.flatMap(({ names }) => [...names])),
    lows: new Map(reversed.flatMap(({ lows }) => [...lows])),
  };
}

/** Returns the pet that a text means, as a bar code of the store or otherwise as a pet id. */
export function petOfText(codes: BarCodes, text: string): bigint | undefined {
  return petOfCode(codes, text) ?? petIdOfCode(text) ?? petIdOfCode(withoutCodeKind(text) ?? '');
}

/** Returns the pet of a bar code, with or without the symbology prefix that a scanner may add. */
export function petOfCode({ pets }: BarCodes, code: string): bigint | undefined {
  return pets.get(code) ?? pets.get(withoutCodeKind(code) ?? '');
}

/** Returns the codes as JSON, for `parseBarCodes`. Ids are strings, because JSON.parse would round them. */
export function barCodesText({ pets, names, lows }: BarCodes): string {
  const text = ([code, petId]: readonly [string, bigint]) => [code, `${petId}`];
  return JSON.stringify({
    pets: Array.from(pets, text),
    names: Array.from(names, ([petId, name]) => [`${petId}`, name]),
    lows: Array.from(lows, ([petId, low]) => [`${petId}`, low]),
  });
}

type StoredCodes = Record<'pets' | 'names', readonly (readonly [string, string])[]> & {
  readonly lows?: readonly (readonly [string, number])[];
};

/** Returns the codes that `barCodesText` has encoded. Throws if the text has another structure. */
export function parseBarCodes(text: string): BarCodes {
  // petstock 0.2 wrote no `lows`.
  const { pets, names, lows = [] } = JSON.parse(text) as StoredCodes;
  return {
    pets: new Map(pets.map(([code, petId]) => [code, BigInt(petId)])),
    names: new Map(names.map(([petId, name]) => [BigInt(petId), name])),
    lows: new Map(lows.map(([petId, low]) => [BigInt(petId), low])),
  };
}
