import { createGovernor } from '../../src/rate-limit/admission.ts';
import type { Governor, GovernorOptions, ObservedAnswer } from '../../src/rate-limit/governor.ts';
import type { Headers } from '../../src/rate-limit/headers.ts';
import type { LimitsStore } from '../../src/rate-limit/limits-store.ts';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import type { Clock } from '../../src/shared/clock.ts';
import type { ProcessIdentity } from '../../src/shared/processes.ts';

export interface RigOptions extends Partial<Omit<GovernorOptions, 'clock'>> {
  readonly clock: Clock;
}

/** A governor with what it said about its waits. */
export interface Rig {
  readonly governor: Governor;
  readonly announced: readonly number[];
  readonly warnings: readonly string[];
  readonly store: LimitsStore;
  /** Sends one request, which is answered at once. @returns when it was sent, by the monotonic clock */
  ask(answer: ObservedAnswer): Promise<number>;
}

export const scope = '1'.repeat(32);
export const unaborted = new AbortController().signal;

let nextPid = 1;

/** A process of this machine that no test has had before. */
export function processWith(changes: Partial<ProcessIdentity> = {}): ProcessIdentity {
  return { host: 'till', namespace: 'pid:[1]', boot: 'test', pid: nextPid++, startedAt: '7', ...changes };
}

/** Returns a store that calls the one key by a name of its own, which no other simulation has. */
export function named(limits: LimitsStore, name: string): LimitsStore {
  return {
    fold: (_scope, records) => limits.fold(name, records),
    ...(limits.look && { look: async () => (await limits.look?.(name)) ?? limits.peek(name) }),
    peek: () => limits.peek(name),
    list: () => limits.list(),
    clear: () => limits.clear(name),
  };
}

export function createRig({ clock, store = new MemoryLimits(), ...changes }: RigOptions): Rig {
  const announced: number[] = [];
  const warnings: string[] = [];
  const governor = createGovernor({
    clock,
    store,
    scope,
    lease: 31_000,
    self: processWith(),
    env: 'staging',
    maxWait: 90_000,
    random: () => 0,
    onWait: (ms) => announced.push(ms),
    onUnbelievable: (line) => warnings.push(line),
    ...changes,
  });
  return {
    governor,
    announced,
    warnings,
    store,
    ask: async (answer) => {
      const permit = await governor.admit(unaborted);
      const sentAt = clock.monotonic();
      await permit.answered(answer).written;
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
export const unavailable = (seconds: string): ObservedAnswer => ({ status: 503, headers: { 'retry-after': seconds } });
