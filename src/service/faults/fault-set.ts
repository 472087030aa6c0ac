import { randomAt } from '../seed/random.ts';
import { type Delay, type Fault, type Harm, type Occurrence, parseFault } from './grammar.ts';

/** What happens to one request. */
export interface Injection {
  readonly delayMs: number;
  readonly harm: Harm | null;
}

const NOTHING: Injection = { delayMs: 0, harm: null };

/** The faults in force in one process. Each counts the requests that it matches. */
export class FaultSet {
  #armed: readonly { readonly fault: Fault; matched: bigint }[];

  /** @throws FaultSpecError */
  constructor(specs: readonly string[]) {
    this.#armed = armed(specs);
  }

  get specs(): readonly string[] {
    return this.#armed.map(({ fault }) => fault.spec);
  }

  /** @throws FaultSpecError; then nothing has been added */
  add(specs: readonly string[]): void {
    this.#armed = [...this.#armed, ...armed(specs)];
  }

  /** Replaces all of them. @throws FaultSpecError; then all is as before */
  replace(specs: readonly string[]): void {
    this.#armed = armed(specs);
  }

  /** Returns what strikes this request: the delays of all that do, the harm of the first that does any. */
  draw(method: string, path: string): Injection {
    if (this.#armed.length === 0) return NOTHING;
    const matching = this.#armed.filter(({ fault }) => matches(fault, method, path));
    for (const one of matching) one.matched++;
    return injectionOf(matching);
  }
}

function armed(specs: readonly string[]) {
  return specs.map((spec) => ({ fault: parseFault(spec), matched: 0n }));
}

/** True for a request that the fault counts. */
function matches({ method, path }: Fault, ofRequest: string, target: string): boolean {
  if (method !== null && method !== ofRequest) return false;
  if (path === null) return true;
  const segments = target.slice(1).split('/');
  return segments.length === path.length && path.every((part, at) => part === '*' || part === segments[at]);
}

/** A fault that a request matches, which is the `matched`-th to do so, from 1. */
interface Match {
  readonly fault: Fault;
  readonly matched: bigint;
}

/** What these faults do to the request that all of them match. */
function injectionOf(matching: readonly Match[]): Injection {
  const struck = matching.filter(({ fault, matched }) => isDue(fault.occurrence, matched));
  return {
    delayMs: struck.reduce((sum, match) => sum + delayMs(match), 0),
    harm: struck.find(({ fault }) => fault.harm !== null)?.fault.harm ?? null,
  };
}

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

/** Of a sequence of its own, so that which requests are struck does not hang on how long they are held up. */
const DELAY_SEED = 0x5eed;

function delayMs({ fault: { delay, occurrence }, matched }: Match): number {
  const seed = occurrence.kind === 'probability' ? occurrence.seed : 1;
  return delay === null ? 0 : within(delay, randomAt(seed ^ DELAY_SEED, matched));
}

function within({ least, most }: Delay, share: number): number {
  return least + Math.floor(share * (most - least + 1));
}
