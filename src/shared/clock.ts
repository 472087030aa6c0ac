export interface Clock {
  /** Wall clock: milliseconds since the Unix epoch. Somebody may step it. */
  now(): number;
  /** Milliseconds since `boot`, never stepped, the same for all processes of this machine. */
  monotonic(): number;
  /** Names the start that `monotonic` counts from: another one after a restart of the machine. */
  boot(): string;
  /**
   * Resolves after `ms` milliseconds and keeps the process alive until then.
   * @throws the signal's reason once it is aborted
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `onPassed` after `ms` milliseconds unless it is cleared before. Not a signal: every request has one, and signals are expensive. */
  deadline(ms: number, onPassed: () => void): Deadline;
}

export interface Deadline {
  clear(): void;
  /** Lets the process end before it has passed; absent on a clock that keeps no process alive. */
  unref?(): void;
}
