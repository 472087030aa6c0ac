import { createGovernor } from '../../src/rate-limit/admission.ts';
import type { Governor, ObservedAnswer } from '../../src/rate-limit/governor.ts';
import type { Headers } from '../../src/rate-limit/headers.ts';
import { createTransientLedger, type Ledger } from '../../src/rate-limit/ledger.ts';
import type { Clock } from '../../src/shared/clock.ts';

export interface RigOptions {
  readonly clock: Clock;
  readonly ledger?: Ledger;
  readonly maxWait?: number;
  readonly env?: string;
  readonly random?: () => number;
}

/** A governor with what it said about its waits. */
export interface Rig {
  readonly governor: Governor;
  readonly announced: readonly number[];
  /** Sends one request, which is answered at once. @returns when it was sent, by the monotonic clock */
  ask(answer: ObservedAnswer): Promise<number>;
}

let nextRig = 1;
export const unaborted = new AbortController().signal;

export function createRig({ clock, ledger, env = 'staging', maxWait = 90_000, random = () => 0 }: RigOptions): Rig {
  const announced: number[] = [];
  const governor = createGovernor({
    clock,
    ledger: ledger ?? createTransientLedger(),
    lease: 31_000,
    unique: `rig${nextRig++}`,
    env,
    maxWait,
    random,
    onWait: (ms) => announced.push(ms),
  });
  return {
    governor,
    announced,
    ask: async (answer) => {
      const permit = await governor.admit(unaborted);
      const sentAt = clock.monotonic();
      permit.answered(answer);
      return sentAt;
    },
  };
}

/** What an answer says of a window that ends `resetIn` ms after `now`, both by the clock of the service. */
export function told(remaining: number, resetIn: number, now: number): Headers {
  return {
    date: new Date(now).toUTCString(),
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil((now + resetIn) / 1000)),
  };
}

export const ok = (headers: Headers = {}): ObservedAnswer => ({ status: 200, headers });
export const refused = (headers: Headers = {}): ObservedAnswer => ({ status: 429, headers });
