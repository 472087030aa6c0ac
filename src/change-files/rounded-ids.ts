/** Number of digits that a spreadsheet keeps. */
const spreadsheetDigits = 15;
/** Maximum number of pets that a message lists. */
const maxNamed = 20;
const smallestRounded = 10n ** BigInt(spreadsheetDigits);

/**
 * Returns what programs make of an id that has more digits than they keep: the nearest double as JavaScript, jq and C
 * print it, and 15 digits with zeros, cut off or rounded, as in a spreadsheet. Includes the id itself if one of them
 * keeps it.
 */
export function roundedForms(petId: bigint): ReadonlySet<bigint> {
  const length = `${petId}`.replace('-', '').length;
  if (length <= spreadsheetDigits) return new Set();
  const double = Number(petId);
  const unit = 10n ** BigInt(length - spreadsheetDigits);
  const rest = petId % unit;
  const cut = petId - rest;
  const isUp = (rest < 0n ? -rest : rest) * 2n >= unit;
  const up = petId < 0n ? cut - unit : cut + unit;
  return new Set([BigInt(double), BigInt(`${double}`), withSeventeenDigits(double), cut, isUp ? up : cut]);
}

/** Returns a whole double as C prints it with 17 digits. */
function withSeventeenDigits(double: number): bigint {
  const [digits = '', exponent] = double.toPrecision(17).split('e');
  if (exponent === undefined) return BigInt(double);
  return BigInt(digits.replace('.', '')) * 10n ** BigInt(Number(exponent) - 16);
}

function isShort(petId: bigint): boolean {
  return petId < smallestRounded && petId > -smallestRounded;
}

/** Reports whether an id may be a rounded form. This is faster than `roundedForms`, for files with many long ids. */
function mayBeRounded(petId: bigint): boolean {
  return !isShort(petId) && (petId % 10n === 0n || BigInt(Number(petId)) === petId);
}

/**
 * Reports whether an id looks as if a program had rounded it. Each id of 16 digits below 2^53 is a double, so such an
 * id has to end in a zero.
 */
function looksRounded(petId: bigint): boolean {
  const isSafe = BigInt.asIntN(54, petId) === petId;
  return mayBeRounded(petId) && (!isSafe || petId % 10n === 0n) && roundedForms(petId).has(petId);
}

/** Finds the pets whose ids a program may have rounded to the ids that were given. */
export class RoundedIds {
  readonly #suspects: ReadonlySet<bigint>;
  readonly #exact = new Map<bigint, bigint[]>();

  constructor(petIds: Iterable<bigint>) {
    this.#suspects = new Set([...petIds].filter((petId) => mayBeRounded(petId) && roundedForms(petId).has(petId)));
  }

  /** Compares a pet of the service with the given ids. It is bound, so that it can be passed as a callback. */
  readonly see = ({ petId }: { readonly petId: bigint }): void => {
    if (this.#suspects.size === 0 || isShort(petId)) return;
    for (const form of roundedForms(petId)) {
      if (form === petId || !this.#suspects.has(form)) continue;
      this.#exact.set(form, [...(this.#exact.get(form) ?? []), petId]);
    }
  };

  /** Returns the pets that round to an id. */
  exactOf(petId: bigint): readonly bigint[] {
    return this.#exact.get(petId) ?? [];
  }

  /**
   * Returns that an id was probably rounded, with the pets that round to it, as the end of a sentence; undefined if it
   * does not look so.
   * @param petText returns how to write a pet
   */
  roundingOf(petId: bigint, petText = (one: bigint) => `pet ${one}`): string | undefined {
    const exact = this.exactOf(petId);
    const told = 'the id was probably rounded';
    if (exact.length === 0) return looksRounded(petId) ? told : undefined;
    const shown = exact.slice(0, maxNamed).map((one) => petText(one));
    return `${told}, and ${shown.join(' and ')} ${exact.length === 1 ? 'rounds' : 'round'} to it`;
  }
}
