/**
 * How long sending the rows of a group should take, in milliseconds; its leases are usually held for that long. It is
 * ten times as long as preparing the last group took, from `least` to `most`.
 */
const span = { least: 100, preparations: 10, most: 2000 };
/**
 * Maximum number of rows in a group. With twice as many, a run is no faster, because a transaction and a disk sync cost
 * little per row by then. With half as many, it takes 5 % longer.
 */
const maxRows = 512;

/**
 * Chooses how many rows are admitted, leased and logged together. Each group costs one transaction and one disk sync,
 * so a fast service gets large groups, and so does a slow state. A slow service gets small groups, because other
 * commands wait for the leases of rows that wait to be sent.
 */
export class GroupSize {
  readonly #least: number;
  #sent = 0;
  #since: number | undefined;
  #size: number;
  #span = span.least;

  /** @param concurrency maximum number of requests in flight; the size is at least four times as large */
  constructor(concurrency: number) {
    this.#least = concurrency * 4;
    this.#size = this.#least;
  }

  /** Once no more than this many prepared rows are left, the next group is prepared, so that it is ready in time. */
  get low(): number {
    return this.#size / 2;
  }

  /** @param took how long preparing the last group took, in milliseconds */
  notePrepared(took: number): void {
    this.#span = Math.min(Math.max(span.least, took * span.preparations), span.most);
  }

  noteSent(): void {
    this.#sent += 1;
  }

  /**
   * Returns the size of the next group: as many rows as can be sent within the span at the rate since the last group.
   * It is at most 512 rows and four times the size of the last group, but always at least four rows per concurrent
   * request.
   * @param now the time by the monotonic clock; it may not have advanced since the last call
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
