import { stock } from '../list/stock.ts';

/** The lists that are compared: the right one differs in the quantity of every tenth pet, or of each, in this order or in none. */
export const variants = ['left', 'tenth', 'every', 'shuffled'] as const;
export type Variant = (typeof variants)[number];

export interface Line {
  readonly petId: string;
  readonly quantity: number;
  readonly status: string;
}

export function linesOf(pets: number, variant: Variant): Line[] {
  const lines = Array.from(stock(pets), (pet, index) => {
    const isChanged = variant === 'every' || (variant !== 'left' && index % 10 === 0);
    return isChanged ? { ...pet, quantity: pet.quantity + 1 } : pet;
  });
  if (variant !== 'shuffled') return lines;
  // Fisher and Yates, with numbers that are the same each time.
  let seed = 1;
  for (let index = lines.length - 1; index > 0; index -= 1) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    const other = seed % (index + 1);
    [lines[index], lines[other]] = [lines[other] as Line, lines[index] as Line];
  }
  return lines;
}

export function jsonOf({ petId, quantity, status }: Line): string {
  return `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`;
}
