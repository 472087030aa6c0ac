import { type Admission, admit, type LimitRules, peek, type ShownLimit, UNUSED, type Usage } from './admission.ts';
import { PLANS } from './plans.ts';

/** Callers without a valid key have the limits of the smallest plan, per address. Ours: the specification is silent. */
const LIMITS = PLANS.free;

const KEPT = 10_000;

/**
 * Buckets for requests without a valid key, so that they never use up a key's quota.
 * Kept in memory, per process and bounded: the address that has been known longest is forgotten first.
 */
export class AddressBuckets {
  readonly #rules: LimitRules;
  readonly #usages = new Map<string, Usage>();

  constructor(minuteMs: number) {
    this.#rules = { minuteMs, ban: null };
  }

  admit(address: string, now: number): Admission {
    const admission = admit(this.#usages.get(address) ?? UNUSED, LIMITS, this.#rules, now);
    if (this.#usages.size >= KEPT && !this.#usages.has(address)) this.#forgetOldest();
    this.#usages.set(address, admission.usage);
    return admission;
  }

  peek(address: string, now: number): ShownLimit {
    return peek(this.#usages.get(address) ?? UNUSED, LIMITS, this.#rules, now);
  }

  #forgetOldest(): void {
    for (const address of this.#usages.keys()) {
      this.#usages.delete(address);
      return;
    }
  }
}
