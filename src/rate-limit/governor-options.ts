import type { Clock } from '../shared/clock.ts';
import type { ProcessIdentity } from '../shared/processes.ts';
import type { KeyLimits } from './key-limits.ts';
import type { WaitReason } from './key-state.ts';
import type { SeenRateLimit } from './permits.ts';

export interface GovernorOptions {
  readonly clock: Clock;
  readonly limits: KeyLimits;
  /** Identifies the service and the key, by `scopeOf`. */
  readonly scope: string;
  /** The environment that is stored with the limits if the key was not used since the machine started. */
  readonly env: string;
  /** Maximum wait for the rate limit, in milliseconds. */
  readonly maxWait: number;
  /**
   * What `maxWait` applies to: all requests together (the default); each request, for programs that run for weeks; or a
   * single wait, so that a bulk run may span many windows.
   */
  readonly maxWaitFor?: 'all' | 'each' | 'wait';
  /** How long a permit is valid, in milliseconds. A process with a request in flight for longer is considered dead. */
  readonly permitLifetime: number;
  /** Whether to hold back a small part of the limit for interactive commands. */
  readonly bulk?: boolean;
  /**
   * Whether to send one request at a time (or two that belong together), among all processes that share the state,
   * because others use the key without being visible in the state.
   */
  readonly exclusive?: boolean;
  readonly self: ProcessIdentity;
  /** See `Processes`. Without this method, a dead process is only noticed when its permits expire. */
  isGone?(process: ProcessIdentity): boolean;
  random(): number;
  /**
   * Called once for an admission that has to wait for a gate or a window, or for more than a second for requests of
   * other processes. `ms` is how long the first such wait may take.
   */
  onWait(ms: number, reason: WaitReason): void;
  /** Called once, with a line for the user, if the service asks for an implausibly long wait. */
  onUnbelievable?(line: string): void;
  /** Called after each response with rate limit headers. */
  onLimit?(seen: SeenRateLimit): void;
}
