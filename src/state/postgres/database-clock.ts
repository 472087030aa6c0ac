import type { Clock } from '../../shared/clock.ts';
import type { StateTime } from '../state-database.ts';

/** Maximum drift between the database's clock and this machine's monotonic clock: twice what NTP slews. */
const drift = 0.001;
/**
 * If the difference between the wall clock and the monotonic clock changes by more than this, in milliseconds, the wall
 * clock was stepped or the machine slept.
 */
const step = 100;
/** Age at which the clock must be read again, in milliseconds. */
const maxAge = 60_000;

/** How far the database's clock is ahead of this machine's monotonic clock: between `least` and `most` milliseconds. */
interface Offset {
  readonly least: number;
  readonly most: number;
  /** When the last reading was received, by the monotonic clock. */
  readonly at: number;
  /** The wall clock minus the monotonic clock at that time. */
  readonly wall: number;
}

/**
 * This machine's estimate of the database's clock, by which machines agree on times. Each reply that contains the time
 * can narrow it. A converted time is the earliest or the latest possible one, and the caller chooses which of them is
 * safe.
 */
export class DatabaseClock implements StateTime {
  readonly #clock: Clock;
  #offset: Offset | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Adds one reading.
   * @param time the database's time, in milliseconds since the Unix epoch
   * @param sentAt,receivedAt the monotonic times between which the time was read
   */
  observe(time: number, sentAt: number, receivedAt: number): void {
    const fresh = { least: time - receivedAt, most: time - sentAt, at: receivedAt, wall: this.#wall };
    const known = this.#hasStepped ? fresh : this.#ahead;
    const least = Math.max(known.least, fresh.least);
    const most = Math.min(known.most, fresh.most);
    // If the readings contradict each other, the database's clock was stepped, or a standby has taken over.
    this.#offset = least <= most ? { ...fresh, least, most } : fresh;
  }

  /**
   * Whether the clock must be read again before converting a time: the offset is unknown or old, or this machine slept
   * or its wall clock was stepped.
   */
  get isDoubtful(): boolean {
    return this.#hasStepped || this.#clock.monotonic() - this.#known.at > maxAge;
  }

  earliest(at: number): number {
    return at + this.#ahead.least;
  }

  latest(at: number): number {
    return at + this.#ahead.most;
  }

  localEarliest(time: number): number {
    return time - this.#ahead.most;
  }

  localLatest(time: number): number {
    return time - this.#ahead.least;
  }

  /** Returns the latest that this machine's wall clock can show at a time of the database. */
  localWall(time: number): number {
    return this.localLatest(time) + this.#wall;
  }

  /** How far the database's clock is ahead of this machine's wall clock, in milliseconds. */
  get aheadOfWall(): number {
    const { least, most } = this.#known;
    return (least + most) / 2 - this.#wall;
  }

  get #known(): Offset {
    if (this.#offset === undefined) throw new Error('the clock of the database has not been read');
    return this.#offset;
  }

  /**
   * The offset from the monotonic clock, widened by the possible drift since the last reading. The drift until a future
   * time need not be added, because such a time is converted again before it is reached.
   */
  get #ahead(): Pick<Offset, 'least' | 'most'> {
    const { least, most, at } = this.#known;
    const slack = Math.max(0, this.#clock.monotonic() - at) * drift;
    return { least: least - slack, most: most + slack };
  }

  /** Whether the wall clock was stepped or the machine slept since the last reading; true before the first one. */
  get #hasStepped(): boolean {
    return this.#offset === undefined || Math.abs(this.#wall - this.#offset.wall) > step;
  }

  /** The wall clock minus the monotonic clock. */
  get #wall(): number {
    return this.#clock.now() - this.#clock.monotonic();
  }
}
