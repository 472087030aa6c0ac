import type { StockFile, VersionedUsage } from '../stock-file.ts';
import { type Admission, admit, type LimitRules, type Limits, UNUSED } from './admission.ts';

interface Parts {
  readonly store: StockFile;
  /** The digest of the key. */
  readonly key: Buffer;
  readonly limits: Limits;
  readonly rules: LimitRules;
}

/** The quota of the service's key. Its usage is in the store, which other processes may use at the same time. */
export class Quota {
  /** The usage as this process has read or written it last. */
  #known: VersionedUsage | undefined;

  constructor(private readonly parts: Parts) {
    this.#known = parts.store.usage(parts.key);
  }

  /** Charges or refuses a request. The usage is stored only if no other process has changed it. */
  admit(now: number): Admission {
    const { store, key, limits, rules } = this.parts;
    for (;;) {
      const before = this.#known;
      const admission = admit(before?.usage ?? UNUSED, limits, rules, now);
      const version = store.setUsage(key, before?.version, admission.usage);
      if (version !== undefined) {
        this.#known = { version, usage: admission.usage };
        return admission;
      }
      this.#known = store.usage(key);
    }
  }
}
