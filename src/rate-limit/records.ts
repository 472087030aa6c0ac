import { crc32 } from 'node:zlib';

/** A process began to use the ledger after a restart of the machine, or under another environment. */
export interface StartRecord {
  readonly type: 'start';
  readonly boot: string;
  readonly env: string;
  readonly at: number;
  /** The wall clock at the same moment: milliseconds since the Unix epoch. */
  readonly wall: number;
}

/** A process wants to send a request. Whether it may is decided by what stands before it in the ledger. */
export interface IntentRecord {
  readonly type: 'intent';
  /** Unique among all processes. */
  readonly id: string;
  readonly at: number;
  readonly expires: number;
  /** Leaves a part of the limit to people. */
  readonly bulk: boolean;
}

/** The head of an answer. */
export interface AnswerRecord {
  readonly type: 'answer';
  readonly id: string;
  readonly at: number;
  readonly wall: number;
  readonly status: number;
  /** The `Date` of the answer: milliseconds since the Unix epoch. */
  readonly date?: number | undefined;
  readonly limit?: number | undefined;
  readonly remaining?: number | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly reset?: number | undefined;
  /** What a 429 asked for, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** A number in [0, 1) for the jitter of a gate, drawn once for all readers. */
  readonly random?: number | undefined;
}

/** No answer will come. */
export interface LostRecord {
  readonly type: 'lost';
  readonly id: string;
  readonly at: number;
}

/** It was never sent, so the service can't have counted it. */
export interface UnsentRecord {
  readonly type: 'unsent';
  readonly id: string;
}

/** What a ledger before came to: the first record of every one but the first, or of one whose folder was removed. */
export interface SummaryRecord {
  readonly type: 'summary';
  readonly state: object;
}

/** The last record of a ledger: what comes behind it counts for nothing and is written to the next one. */
export interface SealRecord {
  readonly type: 'seal';
}

/** Times named `at` and `expires` are by the monotonic clock, in milliseconds. */
export type LedgerRecord =
  | StartRecord
  | IntentRecord
  | AnswerRecord
  | LostRecord
  | UnsentRecord
  | SummaryRecord
  | SealRecord;

/** A line of ASCII with its checksum in front, without the line end. */
export function encodeRecord(record: LedgerRecord): string {
  const json = JSON.stringify(record).replace(/[\u0080-\uffff]/g, escaped);
  return `${checksum(json)} ${json}`;
}

/** @returns undefined for a line that is torn or was never ours */
export function decodeRecord(line: string): LedgerRecord | undefined {
  const json = line.slice(9);
  if (!line.startsWith(' {', 8) || line.slice(0, 8) !== checksum(json)) return undefined;
  return JSON.parse(json) as LedgerRecord;
}

/** A byte of the file is a character, so that a position in one is a position in the other. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/** What a store folds. */
export type LimitRecord = Exclude<LedgerRecord, SealRecord>;
