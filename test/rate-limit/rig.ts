import { GateFile } from '../../src/rate-limit/gate-file.ts';
import { Limits, type LimitsOptions } from '../../src/rate-limit/limits.ts';
import { type LimitsStore, limitsInMemory } from '../../src/rate-limit/limits-row.ts';
import type { Headers, ResponseHead } from '../../src/rate-limit/permits.ts';
import { newFolder } from '../support/new-folder.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

export interface RigOptions extends Partial<Omit<LimitsOptions, 'clock' | 'gates'>> {
  readonly clock?: VirtualClock;
  /** The folders of the gate file. */
  readonly folders?: readonly string[];
}

/** The limits of one process, and what they reported. */
export interface Rig {
  readonly limits: Limits;
  readonly clock: VirtualClock;
  readonly announced: readonly number[];
  readonly warnings: readonly string[];
  readonly store: LimitsStore;
  readonly folders: readonly string[];
  /** Sends one request, which gets its answer at once. @returns when it was sent, by the monotonic clock */
  ask(answer: ResponseHead): Promise<number>;
  /** Sends one request, which gets its answer at once. @returns how many milliseconds later the next one is sent */
  waitAfter(answer: ResponseHead): Promise<number>;
  /** Returns the limits of another process, with the same clock, state and folders. */
  beside(changes?: RigOptions): Rig;
}

export const scope = '1'.repeat(32);
export const unaborted = new AbortController().signal;

export function createRig({
  clock = createVirtualClock(),
  store = limitsInMemory(clock),
  folders = [newFolder()],
  ...changes
}: RigOptions = {}): Rig {
  const announced: number[] = [];
  const warnings: string[] = [];
  const limits = new Limits({
    ...{ clock, store, scope, target: 'staging', permitLifetime: 31_000, maxWait: 90_000 },
    ...{ isBulk: false, isBoundPerWait: false, random: () => 0, gates: new GateFile(folders, clock) },
    onWait: (ms) => announced.push(ms),
    warn: (line) => warnings.push(line),
    ...changes,
  });
  const ask = async (answer: ResponseHead) => {
    const permit = await limits.admitOne(unaborted);
    permit.beginSend();
    const sentAt = clock.monotonic();
    await permit.recordResponse(answer).persisted;
    return sentAt;
  };
  const waitAfter = async (answer: ResponseHead) => {
    const first = await ask(answer);
    return (await ask(ok())) - first;
  };
  const beside = (others: RigOptions = {}) => createRig({ clock, store, folders, ...others });
  return { limits, clock, announced, warnings, store, folders, ask, waitAfter, beside };
}

/** Returns limits that know how many requests are left in a window that ends in 40 s. */
export async function known(left: number, options?: RigOptions) {
  const rig = createRig(options);
  await rig.ask(ok(told(left, 40_000, rig.clock.now())));
  return rig;
}

/** Returns the headers of an answer about a window that ends `resetIn` ms after `now`, by the service's clock. */
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
