import type { Transport } from '../api/transport.ts';
import type { Clock } from '../shared/clock.ts';

export interface PetstoreClientOptions {
  /** Ends in `/v1`; https, or http on a loopback address. */
  readonly baseUrl: string;
  readonly key: string;
  /**
   * Folder for rate limits and history, shared by every process that names it, including the command line. Opened
   * lazily, on the first request. Without it, limits are shared by the clients of this thread only; the wait demanded
   * by a 429 is still saved in a per-user folder and honoured by every process and thread.
   */
  readonly stateFolder?: string | undefined;
  /**
   * `postgresql://…`: a database that keeps limits, gates and the history for several machines, instead of the folder.
   * If a folder is set, too, it is the fallback for requests that only read while the database can't be reached, and
   * `onWarning` is called.
   */
  readonly stateUrl?: string | undefined;
  /** The name under which limits are stored; default: the origin. */
  readonly name?: string | undefined;
  /** Timeout of one request in milliseconds; default 30,000. */
  readonly timeout?: number | undefined;
  /** Maximum wait of one request for the rate limit, in milliseconds; default 90,000. */
  readonly maxWait?: number | undefined;
  /** Maximum number of retries of a read or an absolute write after a network error; default 4. */
  readonly retries?: number | undefined;
  /** Aborts the waits and requests of all calls; each call also accepts its own signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Reserves a small part of the limit for interactive commands: 2 % and at least 2 requests, but never more than a
   * quarter.
   */
  readonly bulk?: boolean | undefined;
  /**
   * Called if the state can't be used; the client then continues without one. If this is not set, every request fails
   * instead, with a FailureError or an UnavailableError.
   */
  readonly onFallback?: ((reason: Error) => void) | undefined;
  /**
   * Called with a sentence if the state was damaged or can't be reached, or if the service asks for an implausibly long
   * wait.
   */
  readonly onWarning?: ((line: string) => void) | undefined;
  /** Called before each wait, with its length in milliseconds. */
  readonly onWait?: ((ms: number) => void) | undefined;
  /**
   * Called after each response that reports a limit. Errors thrown by this listener and the two above become process
   * warnings.
   */
  readonly onLimit?: ((state: LimitState) => void) | undefined;
}

/** A limit as the service last reported it. */
export interface LimitState {
  readonly limit: number;
  /** Requests left, minus those sent since. */
  readonly remaining: number;
  /** When its window ends, by the service's clock. */
  readonly resetAt: Date;
  /** When it was reported, by the local clock. */
  readonly asOf: Date;
}

/** Replaceable dependencies of a client, for tests of this library. */
export interface ClientDependencies {
  /** Default: undici. */
  readonly transport?: Transport | undefined;
  /** Default: the clock of this machine. */
  readonly clock?: Clock | undefined;
}
