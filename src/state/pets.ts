/**
 * Who may write which pet. The service has no compare-and-set, so a write is kept apart from others of the same state by a
 * lease on (service, petId), taken when the row is about to leave and given back with its outcome.
 */
export interface Pets {
  /** A moment in the order of all writes; to be taken before the stock is read. */
  mark(): Promise<Mark>;
  /**
   * When the last request of a process that is gone can't be on its way to one of these pets any more: a stock that is read
   * before may still change by what this state has sent.
   * @param except a run whose own requests don't count
   * @returns by the monotonic clock; undefined where there can be no such request
   */
  arrivesUntil(service: string, petIds: Pick<ReadonlySet<bigint>, 'has'>, except?: string): Promise<number | undefined>;
  /**
   * A place in the line of those who want to read a pet and write what depends on it: first come, first served. Nothing is
   * held until `enter` has succeeded, so a wait for the rate limit before that blocks no one.
   */
  line(service: string, petId: bigint): Promise<Place>;
}

export interface Mark {
  /** Writes up to this one had their outcome. */
  readonly sequence: number;
  /** By the monotonic clock. A write whose request could still arrive after it counts as later. */
  readonly at: number;
}

export interface Place {
  readonly petId: bigint;
  /**
   * Takes the lease, or says who has it or stands before us. `RunLog.intend` with this place then uses it.
   * @returns undefined where the pet is ours
   */
  enter(): Promise<Busy | undefined>;
  /** Gives back place and lease; a lease that a run has taken over with `intend` is the run's. May be called again. */
  leave(): Promise<void>;
}

/** Somebody else is at a pet. */
export interface Busy {
  /** Its run; undefined while it has none yet. */
  readonly run: string | undefined;
  /**
   * By the monotonic clock: when the pet is free at the latest, where its process is gone and only a request of it can still
   * be on its way. Undefined: its process lives; look again.
   */
  readonly until: number | undefined;
}
