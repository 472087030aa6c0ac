/** For how long the rows of a group should last, in milliseconds: so long its leases are held at most, as a rule. */
const span = 100;
/** More rows than this gain nothing: what a sync of the disk costs is a small part by then. */
const mostRows = 256;

/**
 * How many rows are admitted, leased and written down together. Each group is one transaction and one sync of the disk, so a
 * fast service gets large groups. A slow one gets small groups: what is held waits for its turn, and others wait for it.
 */
export class GroupSize {
  readonly #least: number;
  #sent = 0;
  #since: number | undefined;
  #size: number;

  /** @param concurrency requests in flight at once: a group is never smaller than what they take in a few turns */
  constructor(concurrency: number) {
    this.#least = concurrency * 4;
    this.#size = this.#least;
  }

  /** A row has left, or is about to. */
  noteSent(): void {
    this.#sent += 1;
  }

  /**
   * The size of the next group: as many rows as left in the last 100 ms, by the rate since the group before; at most four
   * times as many as in that. Never 0.
   * @param now by the monotonic clock, which may stand still
   */
  next(now: number): number {
    const elapsed = this.#since === undefined ? 0 : now - this.#since;
    const wanted = elapsed > 0 ? Math.round((this.#sent * span) / elapsed) : this.#size;
    this.#size = Math.max(this.#least, Math.min(wanted, this.#size * 4, mostRows));
    this.#since = now;
    this.#sent = 0;
    return this.#size;
  }
}
