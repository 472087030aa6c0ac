/**
 * For how long the rows of a group should last, in milliseconds: so long its leases are held at most, as a rule. Where it takes long to prepare one,
 * as over a network, so many times as long as that.
 */
const span = { least: 100, preparations: 10, most: 2000 };
/** Twice as many rows gain nothing: what a transaction and a sync of the disk cost is a small part by then. Half as many take 5 % longer. */
const maxRows = 512;

/**
 * How many rows are admitted, leased and written down together. Each group is one transaction and one sync of the disk, so a
 * fast service gets large groups, and so does a slow state. A slow service gets small groups: what is held waits for its turn, and others wait for it.
 */
export class GroupSize {
  readonly #least: number;
  #sent = 0;
  #since: number | undefined;
  #size: number;
  #span = span.least;

  /** @param concurrency requests in flight at once: a group is never smaller than what they take in a few turns */
  constructor(concurrency: number) {
    this.#least = concurrency * 4;
    this.#size = this.#least;
  }

  /** How many rows are left of a group when the next one is prepared: it is ready before they are gone. */
  get low(): number {
    return this.#size / 2;
  }

  /** @param took how long it took to prepare the last group, in milliseconds */
  notePrepared(took: number): void {
    this.#span = Math.min(Math.max(span.least, took * span.preparations), span.most);
  }

  /** A row has left, or is about to. */
  noteSent(): void {
    this.#sent += 1;
  }

  /**
   * The size of the next group: as many rows as last for its span, by the rate since the group before; at most four
   * times as many as in that. Never 0.
   * @param now by the monotonic clock, which may stand still
   */
  next(now: number): number {
    const elapsed = this.#since === undefined ? 0 : now - this.#since;
    const wanted = elapsed > 0 ? Math.round((this.#sent * this.#span) / elapsed) : this.#size;
    this.#size = Math.max(this.#least, Math.min(wanted, this.#size * 4, maxRows));
    this.#since = now;
    this.#sent = 0;
    return this.#size;
  }
}
