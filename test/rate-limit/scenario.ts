import { expect } from 'vitest';
import type { PermitCount } from '../../src/rate-limit/permits.ts';
import fc from '../support/properties.ts';
import type { Refusal, SimulatedService, SimulatedServiceOptions } from './simulated-service.ts';

/** A process to simulate. Times are milliseconds since the simulation began. */
export interface ProcessPlan {
  readonly requests: number;
  readonly concurrency: number;
  readonly startsAt?: number;
  /** When the process is killed (SIGKILL). */
  readonly killedAt?: number;
  /** When the process is stopped (SIGSTOP), and for how long. */
  readonly stops?: readonly (readonly [at: number, length: number])[];
  /** The number of its machine. Processes of one machine share its clock and its gate file. */
  readonly machine?: number;
  readonly bulk?: boolean;
  /** How many permits each worker asks for at once. With a minimum of 2, their requests are sent one after another. */
  readonly want?: PermitCount;
}

export interface Scenario {
  readonly service: SimulatedServiceOptions;
  readonly processes: readonly ProcessPlan[];
  /** Least and greatest latency of a request, and of its response. */
  readonly latency: readonly [number, number];
  /** Least and greatest time to connect, between admission and sending. */
  readonly connecting?: readonly [number, number];
  /** Milliseconds by which the clock of each machine is ahead of true time. */
  readonly skew?: number;
  readonly maxWait?: number;
  /** Requests per second of other clients, which send as long as the simulation runs. */
  readonly foreign?: number;
  /** How many in a thousand requests or responses are lost. */
  readonly lost?: number;
  /** Duration of a transaction, which takes effect halfway. */
  readonly storeLatency?: number;
  readonly seed: number;
}

export interface Outcome {
  readonly service: SimulatedService;
  /** How many of our requests got a response other than a 429. */
  readonly answered: number;
  readonly limited: number;
  readonly refusals: readonly Refusal[];
  /**
   * Requests that arrived within a Retry-After that their machine knew of when they were sent, or another machine for
   * longer than knowledge may be old.
   */
  readonly inside: number;
  /** The most 429 episodes in one window. All 429s of requests sent before the first was known are one. */
  readonly episodesPerWindow: number;
  /** The highest rate of other clients that any process has inferred. */
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
