import type { LimitRecord } from '../../src/rate-limit/records.ts';
import type { Refusal } from './simulated-service.ts';

/** The 429s of one machine that its store has, and with that each process of the machine. */
export type StoredRefusals = Refusal[];

/** What one process can know of the 429s: its own from their answers on, those of the others once the store has them. */
export class KnownRefusals {
  readonly #stored: StoredRefusals;
  readonly #own: Refusal[] = [];
  /** Answered and not yet in the store, in their order, with the times of their answers. */
  readonly #onTheWay: { readonly refusal: Refusal; readonly at: number }[] = [];

  constructor(stored: StoredRefusals) {
    this.#stored = stored;
  }

  /** This process has been answered with a 429. */
  answered(refusal: Refusal, at: number): void {
    this.#own.push(refusal);
    this.#onTheWay.push({ refusal, at });
  }

  /** The store has taken these records of this process. @returns for how long the longest of their 429s was on its way */
  stored(records: readonly LimitRecord[], at: number): number {
    const count = records.filter((record) => record.type === 'answer' && record.status === 429).length;
    const arrived = this.#onTheWay.splice(0, count);
    this.#stored.push(...arrived.map(({ refusal }) => refusal));
    return Math.max(0, ...arrived.map((one) => at - one.at));
  }

  /** Whether this process knows by now that nothing may arrive at that time. */
  forbids(arrivesAt: number): boolean {
    return [...this.#own, ...this.#stored].some(({ until }) => arrivesAt < until);
  }
}
