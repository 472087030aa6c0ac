import type { BarCodes } from '../inventory/bar-codes.ts';

/**
 * The pets of a fresh sandbox. Their codes begin with 2, like codes that a shop prints itself. Only pets with much
 * stock have a level, so in a fresh sandbox `--low` selects the same pets with and without these levels.
 */
const pets: readonly (readonly [petId: bigint, name: string, code: string, low?: number])[] = [
  [1n, 'Goldfish', '2000000000015'],
  [2n, 'Parrot', '2000000000022'],
  [3n, 'Guinea pig', '2000000000039'],
  [4n, 'Rabbit', '2000000000046', 8],
  [5n, 'Red hamster', '2000000000053'],
  [6n, 'Blue hamster', '2000000000060'],
  [7n, 'Kitten', '2000000000077'],
  [8n, 'Canary', '2000000000084'],
  [9n, 'Puppy', '2000000000091'],
  [10n, 'Budgie', '2000000000107'],
  [11n, 'Neon tetra', '2000000000114', 20],
  [12n, 'Tortoise', '2000000000121'],
  [13n, 'Gerbil', '2000000000138'],
  [14n, 'Chinchilla', '2000000000145'],
  [15n, 'Zebra finch', '2000000000152', 12],
  [16n, 'Ferret', '2000000000169'],
  [17n, 'Corn snake', '2000000000176'],
  [18n, 'Guppy', '2000000000183', 15],
  [19n, 'Gecko', '2000000000190'],
  [20n, 'Stick insect', '2000000000206'],
  [21n, 'Cockatiel', '2000000000213'],
  [9007199254740992n, 'Axolotl', '2000000000220'],
  [9007199254740993n, 'Clownfish', '2000000000237'],
  [9223372036854775807n, 'Hermit crab', '2000000000244'],
];

/** Returns the built-in bar codes, names and levels of the sandbox. */
export function practiceCodes(): BarCodes {
  return {
    pets: new Map(pets.map(([petId, , code]) => [code, petId])),
    names: new Map(pets.map(([petId, name]) => [petId, name])),
    lows: new Map(pets.flatMap(([petId, , , low]) => (low === undefined ? [] : [[petId, low]]))),
    units: new Map(),
  };
}

/** Returns `practiceCodes` as the text of a codes file. */
export function practiceCodesFile(): string {
  const lines = pets.map(([petId, name, code, low = '']) => `${code},${petId},${name},${low}\n`);
  return `code,petId,name,low\n${lines.join('')}`;
}
