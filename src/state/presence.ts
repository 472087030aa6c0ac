import type { ProcessIdentity } from '../shared/processes.ts';

/**
 * Who is alive. A process that writes has a lease, renewed every 5 s and over 15 s after the last renewal; sooner only where
 * it is certain that the process is gone.
 */
export interface Presence {
  /**
   * Whether this process may still rely on what it holds: false once its lease is over, as after a SIGSTOP, until the next
   * `intend` or `enter` has renewed it, and for good once the state itself was removed or replaced. For the last look before a request leaves: it never waits.
   */
  readonly isCurrent: boolean;
  /** Those whose lease is not over, this process included. */
  list(): Promise<readonly PresentProcess[]>;
}

export interface PresentProcess {
  readonly process: ProcessIdentity;
  /** What it runs: `inventory apply`. */
  readonly command: string;
  /** Who runs it, where the state keeps that: one that several people share. */
  readonly user?: string | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
}
