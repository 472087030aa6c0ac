import type { Clock } from '../../shared/clock.ts';
import type { StateTime } from '../state-database.ts';

/** By how much the clock of a database and the monotonic one of this machine drift apart: twice what NTP slews. */
const drift = 0.001;
/** A wall clock that has moved by more against the monotonic one: stepped, or the machine slept. */
const step = 100;
/** A reading that is older is not relied on, in milliseconds. */
const maxAge = 60_000;

/** How far the clock of the database is ahead of our monotonic one: somewhere from `least` to `most`. */
interface Offset {
  readonly least: number;
  readonly most: number;
  readonly at: number;
  /** The wall clock less the monotonic one then. */
  readonly wall: number;
}

/**
 * The clock of the database, by which machines agree on times, as it is known here: each answer narrows it. A time goes over to
 * the other clock as the earliest or the latest that it can be, and whoever asks says which of them is safe.
 */
export class DatabaseClock implements StateTime {
  readonly #clock: Clock;
  #offset: Offset | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Takes one reading in.
   * @param time of the database, in milliseconds since the Unix epoch
   * @param sentAt,receivedAt by the monotonic clock: it was read between them
   */
  observe(time: number, sentAt: number, receivedAt: number): void {
    const fresh = { least: time - receivedAt, most: time - sentAt, at: receivedAt, wall: this.#wall };
    const known = this.#hasStepped ? fresh : this.#ahead;
    const least = Math.max(known.least, fresh.least);
    const most = Math.min(known.most, fresh.most);
    // Readings that exclude each other: the clock of the database was stepped, or another one has taken over.
    this.#offset = least <= most ? { ...fresh, least, most } : fresh;
  }

  /** Whether it has to be read again before a time goes over: it is unknown or old, or this machine slept. */
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

  /** A time of the database by the wall clock of this machine, for people. */
  localWall(time: number): number {
    return this.localLatest(time) + this.#wall;
  }

  /** How far the clock of the database is ahead of the wall clock of this machine, in milliseconds. */
  get aheadOfWall(): number {
    const { least, most } = this.#known;
    return (least + most) / 2 - this.#wall;
  }

  get #known(): Offset {
    if (this.#offset === undefined) throw new Error('the clock of the database has not been read');
    return this.#offset;
  }

  /** By what it is ahead of our monotonic one: they may have drifted apart since it was last read. A time to come goes over again before it has come. */
  get #ahead(): Pick<Offset, 'least' | 'most'> {
    const { least, most, at } = this.#known;
    const slack = Math.max(0, this.#clock.monotonic() - at) * drift;
    return { least: least - slack, most: most + slack };
  }

  /** Also before it was read at all. */
  get #hasStepped(): boolean {
    return this.#offset === undefined || Math.abs(this.#wall - this.#offset.wall) > step;
  }

  /** The wall clock less the monotonic one. */
  get #wall(): number {
    return this.#clock.now() - this.#clock.monotonic();
  }
}
