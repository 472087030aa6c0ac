import type { Clock, Deadline } from '../shared/clock.ts';

/** Outcomes are buffered for ten times as long as the last write took, within these bounds in milliseconds. */
const minWait = 50;
const maxWait = 1000;

/**
 * Runs the writes of a log one at a time, so that nothing is written twice, and writes its buffer in the background.
 */
export class WriteTurns {
  readonly #clock: Clock;
  readonly #writeBuffer: () => Promise<{ readonly isEmpty: boolean }>;
  #last: Promise<unknown> = Promise.resolve();
  #maxWait = minWait;
  #deadline: Deadline | undefined;
  #isInBackground = false;
  #hasEnded = false;

  /** @param writeBuffer writes the buffer; `isEmpty` is true if nothing is left in the buffer */
  constructor(clock: Clock, writeBuffer: () => Promise<{ readonly isEmpty: boolean }>) {
    this.#clock = clock;
    this.#writeBuffer = writeBuffer;
  }

  /** Runs `work` after all earlier writes. */
  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(async () => {
      const began = this.#clock.monotonic();
      try {
        return await work();
      } finally {
        this.#maxWait = Math.min(Math.max(minWait, 10 * (this.#clock.monotonic() - began)), maxWait);
      }
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Schedules a background write of the buffer, at most 1 s from now. */
  writeInTime(): void {
    if (!this.#hasEnded) this.#deadline ??= this.#clock.deadline(this.#maxWait, () => this.writeSoon());
  }

  /** Writes the buffer in the background. If that fails, the next awaited write tries again and reports the error. */
  writeSoon(): void {
    this.clearDeadline();
    // Only one background write is pending at a time, because in a slow state they would pile up.
    if (this.#hasEnded || this.#isInBackground) return;
    this.#isInBackground = true;
    this.take(this.#writeBuffer)
      .then(({ isEmpty }) => {
        if (!isEmpty) this.writeInTime();
      })
      .catch(() => {})
      .finally(() => {
        this.#isInBackground = false;
      });
  }

  /** Cancels the scheduled background write. Call this when the buffer is empty. */
  clearDeadline(): void {
    this.#deadline?.clear();
    this.#deadline = undefined;
  }

  end(): void {
    this.#hasEnded = true;
    this.clearDeadline();
  }
}
