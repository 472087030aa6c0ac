import type { ObservedAnswer, Permit } from '../rate-limit/governor.ts';
import { OvertakenError } from '../rate-limit/governor.ts';
import type { Clock } from '../shared/clock.ts';
import type { Presence } from '../state/presence.ts';

/** What holds for a row whose intent is written. */
export interface Hold {
  readonly clock: Clock;
  readonly presence: Pick<Presence, 'isCurrent'>;
  /** By the monotonic clock: later it may not leave. */
  readonly leaveBy: number;
}

/** The permit of a prepared row, with a last look at its own time and at the lease of this process. */
export class PreparedPermit implements Permit {
  readonly #permit: Permit;
  readonly #hold: Hold;

  constructor(permit: Permit, hold: Hold) {
    this.#permit = permit;
    this.#hold = hold;
  }

  /** The process may have been stopped since, and others have taken what it held. */
  leave(): void {
    const { clock, presence, leaveBy } = this.#hold;
    if (clock.monotonic() > leaveBy || !presence.isCurrent) throw new OvertakenError();
    this.#permit.leave();
  }

  answered(answer: ObservedAnswer): Promise<void> {
    return this.#permit.answered(answer);
  }

  lost(): Promise<void> {
    return this.#permit.lost();
  }

  unsent(): Promise<void> {
    return this.#permit.unsent();
  }
}
