import type { Transport } from '../api/transport.ts';
import type { Clock } from '../shared/clock.ts';

export interface PetstoreClientOptions {
  /** A URL that ends in `/v1`; https, or http on a loopback address. */
  readonly baseUrl: string;
  readonly key: string;
  /**
   * The folder for rate limits and history, shared by every process that names it, including the command line. The
   * first call opens it. Without `stateFolder` and `stateUrl`, only the clients of this thread share limits. The wait
   * that a 429 demands is still saved in folders of the user, and respected by every process and thread of that user.
   */
  readonly stateFolder?: string | undefined;
  /**
   * The URL of a PostgreSQL database (`postgresql://…`) that stores limits, gates and the history for several machines.
   * If `stateFolder` is set, too, the folder is the fallback: while the database can't be reached, calls that only read
   * use it, and `onWarning` is called.
   */
  readonly stateUrl?: string | undefined;
  /** The environment that is recorded with limits and runs, such as `staging`; default: the origin of the service. */
  readonly name?: string | undefined;
  /** Timeout of one request in milliseconds; default 30,000. */
  readonly timeout?: number | undefined;
  /** Maximum wait of one request for the rate limit, in milliseconds; default 90,000. */
  readonly maxWait?: number | undefined;
  /**
   * Maximum number of retries after a network error or a status of 500, 502, 503 or 504; default 4. A write is sent
   * again only if it can't be applied twice.
   */
  readonly retries?: number | undefined;
  /** Aborts all calls. Most methods also accept a signal for a single call. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether to reserve a small part of each limit for other commands: 2 %, at least 2 requests, but never more than a
   * quarter.
   */
  readonly bulk?: boolean | undefined;
  /**
   * Called if the state can't be opened. The client then continues without a state, and a call at least a minute later
   * tries to open it again. If this callback is not set, every call rejects with a FailureError or an UnavailableError.
   */
  readonly onFallback?: ((reason: Error) => void) | undefined;
  /**
   * Called with a sentence about a problem that fails no call, such as a damaged state, or a service that asks for an
   * implausibly long wait.
   */
  readonly onWarning?: ((line: string) => void) | undefined;
  /** Called before a request waits for the rate limit or a gate, with the wait in milliseconds. */
  readonly onWait?: ((ms: number) => void) | undefined;
  /**
   * Called after each response that reports a limit. Errors thrown by `onWarning`, `onWait` and `onLimit` become
   * process warnings.
   */
  readonly onLimit?: ((state: LimitState) => void) | undefined;
}

/** A limit as the service last reported it. */
export interface LimitState {
  /** Number of requests per window, which is a minute or a day. */
  readonly limit: number;
  /** Number of requests left: as reported, minus the requests that have ended since. */
  readonly remaining: number;
  /** When the window of the limit ends, by the service's clock. */
  readonly resetAt: Date;
  /** When the service reported the limit, by the local clock. */
  readonly asOf: Date;
}

/** Replaceable dependencies of a client, for `startSandbox` and for tests of this library. */
export interface ClientDependencies {
  /** Default: undici. */
  readonly transport?: Transport | undefined;
  /** Default: the clock of this machine. */
  readonly clock?: Clock | undefined;
}
