import { expect } from 'vitest';
import type { PermitCount } from '../../src/rate-limit/permits.ts';
import fc from '../support/seeded-fast-check.ts';
import type { Refusal, SimulatedService, SimulatedServiceOptions } from './simulated-service.ts';

/** Times are milliseconds since the simulation began. */
export interface ProcessPlan {
  readonly requests: number;
  readonly concurrency: number;
  readonly startsAt?: number;
  /** `kill -9`: it does nothing more. */
  readonly killedAt?: number;
  /** SIGSTOP and SIGCONT. */
  readonly stops?: readonly (readonly [at: number, length: number])[];
  /** Steps of its wall clock. */
  readonly steps?: readonly (readonly [at: number, ms: number])[];
  /** Processes of one machine share a store. */
  readonly machine?: number;
  /** Milliseconds by which its clocks are ahead. It then has a boot of its own. */
  readonly ahead?: { readonly monotonic: number; readonly wall: number };
  readonly bulk?: boolean;
  /** How many permits each worker requests at once. If two at least, their requests are sent one after another. */
  readonly want?: PermitCount;
}

export interface Scenario {
  readonly service: SimulatedServiceOptions;
  readonly processes: readonly ProcessPlan[];
  /** Least and greatest latency, of a request and of its response each. */
  readonly latency: readonly [number, number];
  /** Least and greatest time between admission and sending, in which a connection is made. */
  readonly connecting?: readonly [number, number];
  /** How far our wall clock is ahead of true time. */
  readonly skew?: number;
  readonly maxWait?: number;
  /** Requests per second of others, from the beginning to the end. */
  readonly foreign?: number;
  /** How many in a thousand requests, or answers, are lost. */
  readonly lost?: number;
  /** Milliseconds of a transaction, half of them before it is done; the state that it returns is as old. */
  readonly storeLatency?: number;
  readonly seed: number;
}

export interface Outcome {
  readonly service: SimulatedService;
  /** How many of our requests were answered. */
  readonly answered: number;
  readonly limited: number;
  readonly refusals: readonly Refusal[];
  /**
   * Requests that came within a Retry-After that their process could know when they left. It knows its own 429s from
   * their answers on, and those of the other processes of its machine once the store has them: no process can know of one
   * that is still on its way there. How long that way may be is what `slowest429` is for.
   */
  readonly inside: number;
  /** The most milliseconds from a 429 until the store had it, in processes that are never stopped. */
  readonly slowest429: number;
  /** The most 429 episodes in one window: those of requests that left before it was known are one. */
  readonly episodesPerWindow: number;
  /** The highest rate of others that any process has inferred. */
  readonly foreignRate: number;
  readonly endedAt: number;
}

export const noon = Date.UTC(2026, 0, 15, 12);
export const integer = (min: number, max: number) => fc.integer({ min, max });
export const pairs = (first: fc.Arbitrary<number>, second: fc.Arbitrary<number>, maxLength: number) =>
  fc.array(fc.tuple(first, second), { maxLength });

export function expectNoRefusals({ refusals, inside }: Outcome): void {
  expect({ refusals: refusals.length, inside }).toEqual({ refusals: 0, inside: 0 });
}
