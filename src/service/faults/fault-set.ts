import { seededRandom } from '../seed/random.ts';
import type { Delay, Fault, Harm, Occurrence } from './fault.ts';
import { parseFault } from './grammar.ts';

/** What happens to one request. */
export interface Injection {
  readonly delayMs: number;
  readonly harm: Harm | null;
}

const NOTHING: Injection = { delayMs: 0, harm: null };

/** The faults in force. Each counts the requests that it matches, in this process. */
export class FaultSet {
  #armed: readonly ArmedFault[] = [];

  get specs(): readonly string[] {
    return this.#armed.map(({ fault }) => fault.spec);
  }

  /** @throws FaultSpecError; then nothing has been added */
  add(specs: readonly string[]): void {
    this.#armed = [...this.#armed, ...specs.map((spec) => new ArmedFault(parseFault(spec)))];
  }

  /** Puts these in the place of all others. @throws FaultSpecError; then all is as before */
  replace(specs: readonly string[]): void {
    this.#armed = specs.map((spec) => new ArmedFault(parseFault(spec)));
  }

  /** What strikes this request: the delays of all that do, the harm of the first that does any. */
  draw(method: string, path: string): Injection {
    if (this.#armed.length === 0) return NOTHING;
    const struck = this.#armed.filter((armed) => armed.strikes(method, path));
    return {
      delayMs: struck.reduce((sum, armed) => sum + armed.delayMs(), 0),
      harm: struck.find(({ fault }) => fault.harm !== null)?.fault.harm ?? null,
    };
  }
}

class ArmedFault {
  readonly fault: Fault;
  readonly #random: () => number;
  #matched = 0;

  constructor(fault: Fault) {
    this.fault = fault;
    this.#random = seededRandom(fault.occurrence.kind === 'probability' ? fault.occurrence.seed : 1);
  }

  /** Counts the request if it matches. */
  strikes(method: string, path: string): boolean {
    if (!matches(this.fault, method, path)) return false;
    this.#matched++;
    return isDue(this.fault.occurrence, this.#matched, this.#random);
  }

  delayMs(): number {
    return this.fault.delay === null ? 0 : within(this.fault.delay, this.#random());
  }
}

function matches({ method, path }: Fault, ofRequest: string, target: string): boolean {
  if (method !== null && method !== ofRequest) return false;
  if (path === null) return true;
  const segments = target.slice(1).split('/');
  return segments.length === path.length && path.every((part, at) => part === '*' || part === segments[at]);
}

function isDue(occurrence: Occurrence, matched: number, random: () => number): boolean {
  switch (occurrence.kind) {
    case 'always':
      return true;
    case 'every':
      return matched % occurrence.n === 0;
    case 'first':
      return matched <= occurrence.n;
    case 'probability':
      return random() < occurrence.p;
  }
}

function within({ least, most }: Delay, share: number): number {
  return least + Math.floor(share * (most - least + 1));
}
