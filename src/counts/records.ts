import type { ScanLine } from '../inventory/count/scan-line.ts';
import type { Counted, Tally } from '../inventory/count/tally.ts';
import type { ProcessIdentity } from '../shared/processes.ts';

/** The first line of a session. */
export interface SessionHead {
  /** `20260115T120020Z-k3x9` */
  readonly session: string;
  /** When it began: milliseconds since the Unix epoch. */
  readonly at: number;
  readonly env: string;
  /** Absent: the store without a name. */
  readonly store?: string | undefined;
  /** What is counted, by `serviceOf`, and where it was at that time. */
  readonly service: string;
  readonly baseUrl: string;
  /** The sessions that were merged into it, by their whole ids. */
  readonly merged: readonly string[];
}

/** How a session has ended. */
export type SessionEnd =
  | { readonly how: 'applied'; readonly run: string | null }
  | { readonly how: 'written'; readonly file: string }
  | { readonly how: 'merged'; readonly into: string }
  | { readonly how: 'discarded' }
  /** The name of the file says that it is finished; the line that says how is damaged. Never written. */
  | { readonly how: 'unreadable' };

/** One line of a session file after the first. Ids are text: JSON.parse would round them. */
export type SessionRecord =
  /** A line that was scanned. `pet`: the pet that it stood for when it was scanned; absent: none was known. */
  | { readonly add: number; readonly code: string; readonly pet?: string }
  | { readonly set: number; readonly code: string; readonly pet?: string }
  | { readonly back: true }
  /** Units that a merged session has begun with. */
  | { readonly base: number; readonly code: string; readonly pet?: string }
  /** A process goes to work on the session, and leaves it. */
  | { readonly claim: ProcessIdentity }
  | { readonly leave: ProcessIdentity }
  /** The line above was cut off while it was written, which was said when it was found. */
  | { readonly cut: true }
  /** A person goes on without the lines above that can't be read, and how many those are. */
  | { readonly without: number }
  | { readonly end: SessionEnd };

export type ScanRecord = Exclude<
  SessionRecord,
  { claim: unknown } | { leave: unknown } | { cut: unknown } | { without: unknown } | { end: unknown }
>;

export function scanRecord(line: ScanLine, petId: bigint | undefined): ScanRecord | undefined {
  const pet = petId === undefined ? {} : { pet: `${petId}` };
  switch (line.kind) {
    case 'add':
      return { add: line.units, code: line.code, ...pet };
    case 'set':
      return { set: line.units, code: line.code, ...pet };
    case 'takeBack':
      return { back: true };
    case 'fault':
      // What can't be read may have been a pet all the same: it is kept apart, and not forgotten.
      return { add: 1, code: line.code };
    default:
      return undefined;
  }
}

/**
 * Does to a tally what a record says.
 * @param petOf the pet that a code stands for now, where none was known when it was scanned
 * @returns what has changed; undefined where there was nothing to take back
 */
export function applyRecord(tally: Tally, record: ScanRecord, petOf: (code: string) => bigint | undefined) {
  if ('back' in record) return tally.takeBack();
  const what: Counted = record.pet === undefined ? (petOf(record.code) ?? record.code) : BigInt(record.pet);
  if ('add' in record) return tally.add(what, record.add);
  if ('set' in record) return tally.set(what, record.set);
  return tally.base(what, record.base);
}

export function isScan(record: SessionRecord): record is ScanRecord {
  return !('claim' in record || 'leave' in record || 'cut' in record || 'without' in record || 'end' in record);
}

export function recordText(record: SessionRecord | ({ readonly count: 1 } & SessionHead)): string {
  return `${JSON.stringify(record)}\n`;
}

/** @returns undefined for what is no record: the rest of a line that a full disk or a power cut has cut off */
export function parseRecord(line: string): SessionRecord | undefined {
  const record = parsedObject(line);
  if (record === undefined) return undefined;
  const isOf = (value: unknown, field: string) => typeof value === 'object' && value !== null && field in value;
  const isUnits = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
  const { add, set, base, code, pet, back, claim, leave, cut, without, end } = record;
  const isNamed = typeof code === 'string' && (pet === undefined || /^-?\d{1,19}$/.test(String(pet)));
  const isCount = isNamed && [add, set, base].filter((units) => units !== undefined).every(isUnits);
  const isRecord = (isCount && (add ?? set ?? base) !== undefined) || back === true || cut === true || isUnits(without);
  return isRecord || isOf(claim, 'pid') || isOf(leave, 'pid') || isOf(end, 'how')
    ? (record as SessionRecord)
    : undefined;
}

/** @returns undefined for what is no head of a session that this version can read */
export function parseHead(line: string): SessionHead | undefined {
  const head = parsedObject(line);
  if (head?.count !== 1 || !Array.isArray(head.merged) || !Number.isFinite(head.at)) return undefined;
  const texts = [head.session, head.env, head.service, head.baseUrl, ...head.merged];
  const isStore = head.store === undefined || typeof head.store === 'string';
  return isStore && texts.every((text) => typeof text === 'string') ? (head as unknown as SessionHead) : undefined;
}

function parsedObject(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
