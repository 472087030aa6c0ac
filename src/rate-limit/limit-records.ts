import type { AdmissionRequest } from './rules.ts';

/** A process begins to use a key. The record has an effect only if its boot differs from that of the state. */
export interface StartRecord {
  readonly type: 'start';
  readonly boot: string;
  readonly env: string;
  readonly at: number;
  /** The wall clock at the same moment, in milliseconds since the Unix epoch. */
  readonly wall: number;
}

/**
 * A process wants to send requests. Folding the record puts the first of them in flight: as many as may be sent,
 * perhaps none.
 */
export interface IntentRecord extends AdmissionRequest {
  readonly type: 'intent';
  /** One id for each request, unique among all processes. */
  readonly ids: readonly string[];
  /** The process that wants to send, as the text from `ownerOf`. */
  readonly by: string;
  readonly at: number;
  readonly expires: number;
}

/** The head of a response. */
export interface ResponseRecord {
  readonly type: 'answer';
  readonly id: string;
  readonly at: number;
  /** When the request was sent. */
  readonly leftAt?: number | undefined;
  readonly wall: number;
  readonly status: number;
  /** The `Date` of the response, in milliseconds since the Unix epoch. */
  readonly date?: number | undefined;
  readonly limit?: number | undefined;
  readonly remaining?: number | undefined;
  /** When the window ends, in milliseconds since the Unix epoch. */
  readonly reset?: number | undefined;
  /** The wait that a 429, 502, 503 or 504 asked for, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** A number in [0, 1) for the jitter of a gate. It is part of the record, so that folding is deterministic. */
  readonly random?: number | undefined;
}

/** A request ended without a response. The service may have counted a `lost` request, but not an `unsent` one. */
export interface EndRecord {
  readonly type: 'lost' | 'unsent';
  readonly id: string;
}

/** Times named `at`, `leftAt` and `expires` are by the monotonic clock, in milliseconds. */
export type LimitRecord = StartRecord | IntentRecord | ResponseRecord | EndRecord;
