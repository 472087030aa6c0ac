import type { AdmissionRequest } from './rules.ts';

/** A process began to use a key. Counts if the machine has restarted since, or if the key was never used. */
export interface StartRecord {
  readonly type: 'start';
  readonly boot: string;
  readonly env: string;
  readonly at: number;
  /** The wall clock at the same moment: milliseconds since the Unix epoch. */
  readonly wall: number;
}

/** A process wants to send requests. As many of them are in flight afterwards as may leave: the first ones, or none. */
export interface IntentRecord extends AdmissionRequest {
  readonly type: 'intent';
  /** One for each request, unique among all processes. */
  readonly ids: readonly string[];
  /** The process, by `ownerOf`. */
  readonly by: string;
  readonly at: number;
  readonly expires: number;
}

/** The head of an answer. */
export interface ResponseRecord {
  readonly type: 'answer';
  readonly id: string;
  readonly at: number;
  /** When its request left. */
  readonly leftAt?: number | undefined;
  readonly wall: number;
  readonly status: number;
  /** The `Date` of the answer: milliseconds since the Unix epoch. */
  readonly date?: number | undefined;
  readonly limit?: number | undefined;
  readonly remaining?: number | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly reset?: number | undefined;
  /** The wait that a 429, 502, 503 or 504 asked for, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** A number in [0, 1) for the jitter of a gate, drawn once so that folding stays pure. */
  readonly random?: number | undefined;
}

/** No answer will come. The service may have counted a request that was `lost`; one that was `unsent` it can't have. */
export interface EndRecord {
  readonly type: 'lost' | 'unsent';
  readonly id: string;
}

/** Times named `at`, `leftAt` and `expires` are by the monotonic clock, in milliseconds. */
export type LimitRecord = StartRecord | IntentRecord | ResponseRecord | EndRecord;
