import { Governor } from '../../src/rate-limit/governor.ts';
import type { GovernorOptions } from '../../src/rate-limit/governor-options.ts';
import type { KeyLimits } from '../../src/rate-limit/key-limits.ts';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import type { Headers, ResponseHead } from '../../src/rate-limit/permits.ts';
import type { ProcessIdentity } from '../../src/shared/processes.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

export interface RigOptions extends Partial<Omit<GovernorOptions, 'clock'>> {
  readonly clock?: VirtualClock;
}

/** A governor, and what it reported about its waits. */
export interface Rig {
  readonly governor: Governor;
  readonly clock: VirtualClock;
  readonly announced: readonly number[];
  readonly warnings: readonly string[];
  readonly limits: KeyLimits;
  /** Sends one request, which gets its response at once. @returns when it was sent, by the monotonic clock */
  ask(answer: ResponseHead): Promise<number>;
  /** Sends one request, which gets its response at once. @returns how many milliseconds later the next one is sent */
  waitAfter(answer: ResponseHead): Promise<number>;
  /** Returns a governor of another process, with the same clock and store. */
  beside(changes?: RigOptions): Rig;
}

export const scope = '1'.repeat(32);
export const unaborted = new AbortController().signal;

let nextPid = 1;

/** Returns a process of this machine with a new pid. */
export function processWith(changes: Partial<ProcessIdentity> = {}): ProcessIdentity {
  return { host: 'till', namespace: 'pid:[1]', boot: 'test', pid: nextPid++, startedAt: '7', ...changes };
}

export function createRig({
  clock = createVirtualClock(),
  limits = new MemoryLimits(),
  ...changes
}: RigOptions = {}): Rig {
  const announced: number[] = [];
  const warnings: string[] = [];
  const governor = new Governor({
    clock,
    limits,
    scope,
    permitLifetime: 31_000,
    self: processWith(),
    env: 'staging',
    maxWait: 90_000,
    random: () => 0,
    onWait: (ms) => announced.push(ms),
    onUnbelievable: (line) => warnings.push(line),
    ...changes,
  });
  const ask = async (answer: ResponseHead) => {
    const permit = await governor.admit(unaborted);
    const sentAt = clock.monotonic();
    await permit.recordResponse(answer).persisted;
    return sentAt;
  };
  const waitAfter = async (answer: ResponseHead) => {
    const first = await ask(answer);
    return (await ask(ok())) - first;
  };
  const beside = (others: RigOptions = {}) => createRig({ clock, limits, ...others });
  return { governor, clock, announced, warnings, limits, ask, waitAfter, beside };
}

/** Returns a governor that knows how many requests are left in a window that ends in 40 s. */
export async function known(left: number, options?: RigOptions) {
  const rig = createRig(options);
  await rig.ask(ok(told(left, 40_000, rig.clock.now())));
  return rig;
}

/** Returns the headers of a response about a window that ends `resetIn` ms after `now`, by the service's clock. */
export function told(remaining: number, resetIn: number, now: number): Headers {
  return {
    date: new Date(now).toUTCString(),
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil((now + resetIn) / 1000)),
  };
}

export const ok = (headers: Headers = {}): ResponseHead => ({ status: 200, headers });
export const refused = (headers: Headers = {}): ResponseHead => ({ status: 429, headers });
export const unavailable = (seconds: string): ResponseHead => ({ status: 503, headers: { 'retry-after': seconds } });
