import type { Transport } from '../api/transport.ts';
import type { Clock } from '../shared/clock.ts';

export interface PetstoreClientOptions {
  /** Ends in `/v1`; https, or http on a loopback address. */
  readonly baseUrl: string;
  readonly key: string;
  /**
   * Where limits and gates are remembered, shared with every process that names the same folder, those of the command line
   * included. It is opened with the first request. Without it they are remembered for this client alone.
   */
  readonly stateFolder?: string;
  /**
   * `postgresql://…`: a database that keeps limits, gates and the history for several machines, in place of the folder. With a
   * folder, too, requests that only read go by that one where the database can't be reached, and `onWarning` is called.
   */
  readonly stateUrl?: string;
  /** Under which name the limits are remembered; default: the origin. */
  readonly name?: string;
  /** For one request, in milliseconds; default 30,000. */
  readonly timeout?: number;
  /** The longest wait of one request for the rate limit, in milliseconds; default 90,000. */
  readonly maxWait?: number;
  /** Ends waits and requests of all calls; each call takes one of its own, too. */
  readonly signal?: AbortSignal;
  /** Leaves a small part of the limit (2 %, at least 2) to people. */
  readonly bulk?: boolean;
  /**
   * Called where the state can't be used: limits are then remembered for this client alone. Without it every request
   * fails with that reason instead, a FailureError or an UnavailableError.
   */
  onFallback?(reason: Error): void;
  /** Called with a sentence where the state was damaged or can't be reached, or the service asks for a wait that makes no sense. */
  onWarning?(line: string): void;
  /** Called before each wait, with its length in milliseconds. */
  onWait?(ms: number): void;
  /** Default: undici. */
  readonly transport?: Transport;
  /** Default: the clock of this machine. */
  readonly clock?: Clock;
}
