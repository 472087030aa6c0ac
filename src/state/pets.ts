export interface Mark {
  /** Writes up to this one had their outcome. */
  readonly sequence: number;
  /** By the monotonic clock. A write whose request could still arrive after it counts as later. */
  readonly at: number;
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
