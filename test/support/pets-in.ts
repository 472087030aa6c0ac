const pet = /(-?\d+)"?[^\d\n-]+(-?\d+)[^\d\n]*?\b(available|pending|sold)\b/g;

/** Returns the pets that an output in any format lists, as `4 39 available`, whatever further fields they have. */
export function petsIn(stdout: string): string[] {
  return Array.from(stdout.matchAll(pet), ([, ...values]) => values.join(' '));
}
