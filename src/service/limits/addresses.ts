import type { Limits } from './admission.ts';
import { type Admission, admit, type LimitRules, peek, type ShownLimit, UNUSED, type Usage } from './admission.ts';

/** The limit that is shown if callers without a key are not limited: it is never reached. */
const NEVER_REACHED = 1_000_000_000n;

const KEPT = 10_000;

/**
 * Buckets for requests without a valid key, so that they never use up a key's quota. A caller without a key is to get
 * 401 for as long as it asks; only a flood is refused otherwise. Kept in memory, per process and bounded: the
 * address that has been known longest is forgotten first. They guard the process and are no quota.
 */
export class AddressBuckets {
  readonly #rules: LimitRules;
  readonly #limits: Limits;
  readonly #isLimited: boolean;
  readonly #usages = new Map<string, Usage>();

  /** @param perMinute requests that an address may make; null: as many as it likes */
  constructor(minuteMs: number, perMinute: bigint | null) {
    this.#rules = { minuteMs, ban: null };
    this.#limits = { minute: perMinute ?? NEVER_REACHED, day: 2n ** 62n };
    this.#isLimited = perMinute !== null;
  }

  admit(address: string, now: number): Admission {
    const admission = admit(this.#usages.get(address) ?? UNUSED, this.#limits, this.#rules, now);
    if (!this.#isLimited) return admission;
    if (this.#usages.size >= KEPT && !this.#usages.has(address)) this.#forgetOldest();
    this.#usages.set(address, admission.usage);
    return admission;
  }

  peek(address: string, now: number): ShownLimit {
    return peek(this.#usages.get(address) ?? UNUSED, this.#limits, this.#rules, now);
  }

  #forgetOldest(): void {
    for (const address of this.#usages.keys()) {
      this.#usages.delete(address);
      return;
    }
  }
}
