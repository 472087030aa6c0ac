import { randomAt } from '../seed.ts';
import { type Fault, type Harm, type Occurrence, parseFault } from './grammar.ts';

export interface Injection {
  readonly delayMs: number;
  readonly harm: Harm | null;
}

const NOTHING: Injection = { delayMs: 0, harm: null };

/** The faults that one service injects. Each counts the requests that it matches. */
export class FaultSet {
  #armed: readonly { readonly fault: Fault; matched: bigint }[];

  /** @throws FaultSpecError for a fault that can't be parsed */
  constructor(specs: readonly string[]) {
    this.#armed = armed(specs);
  }

  /** @throws FaultSpecError for a fault that can't be parsed; then nothing is changed */
  replace(specs: readonly string[]): void {
    this.#armed = armed(specs);
  }

  /**
   * Returns the effect on this request: the total delay of all faults that take effect, and the harm of the first of
   * them that does harm.
   */
  draw(method: string, path: string): Injection {
    if (this.#armed.length === 0) return NOTHING;
    const matching = this.#armed.filter(({ fault }) => matches(fault, method, path));
    for (const one of matching) one.matched++;
    const struck = matching.filter(({ fault, matched }) => isDue(fault.occurrence, matched));
    return {
      delayMs: struck.reduce((sum, { fault, matched }) => sum + delayMs(fault, matched), 0),
      harm: struck.find(({ fault }) => fault.harm !== null)?.fault.harm ?? null,
    };
  }
}

function armed(specs: readonly string[]) {
  return specs.map((spec) => ({ fault: parseFault(spec), matched: 0n }));
}

function matches({ method, path }: Fault, ofRequest: string, target: string): boolean {
  if (method !== null && method !== ofRequest) return false;
  if (path === null) return true;
  const segments = target.slice(1).split('/');
  return segments.length === path.length && path.every((part, at) => part === '*' || part === segments[at]);
}

/** @param matched number of requests that the fault has matched, including this one */
function isDue(occurrence: Occurrence, matched: bigint): boolean {
  switch (occurrence.kind) {
    case 'always':
      return true;
    case 'every':
      return matched % BigInt(occurrence.n) === 0n;
    case 'first':
      return matched <= BigInt(occurrence.n);
    case 'probability':
      return randomAt(occurrence.seed, matched) < occurrence.p;
  }
}

/** Gives delays random numbers of their own: those that select requests would give rare faults only short delays. */
const DELAY_SEED = 0x5eed;

function delayMs({ delay, occurrence }: Fault, matched: bigint): number {
  if (delay === null) return 0;
  const seed = occurrence.kind === 'probability' ? occurrence.seed : 1;
  const share = randomAt(seed ^ DELAY_SEED, matched);
  return delay.least + Math.floor(share * (delay.most - delay.least + 1));
}
