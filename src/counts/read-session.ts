import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Clock } from '../shared/clock.ts';
import { FailureError } from '../shared/errors.ts';
import { readErrorReason } from '../shared/file-error.ts';
import type { Processes, ProcessIdentity } from '../shared/processes.ts';
import { isScan, parseHead, parseRecord, type ScanRecord, type SessionEnd, type SessionHead } from './records.ts';

/** How the names of files end: of sessions that are not finished, and of those that are. */
export const unfinishedName = '.count';
export const finishedName = '.done';

/** What a session file holds. */
export interface ReadSession {
  readonly path: string;
  readonly head: SessionHead;
  /** `head` is what the first line says, and not what the name of the file gives away. */
  readonly hasHead: boolean;
  readonly scans: readonly ScanRecord[];
  /** The numbers of the lines that can't be read, from 1, without those that a person goes on without. Empty: it is sound. */
  readonly damage: readonly number[];
  /** undefined: it is not finished. */
  readonly end: SessionEnd | undefined;
  /** Processes that went to work on it and have not left it, in the order in which they came. Some may be gone. */
  readonly claims: readonly ProcessIdentity[];
  /** When it was last written to or kept alive: milliseconds since the Unix epoch. */
  readonly touchedAt: number;
  /** What there is of a last line that has no line end; undefined: the last line is whole. */
  readonly rest: string | undefined;
}

/**
 * Reads a session, whatever its process is doing meanwhile. Lines that can't be read are named in `damage`, and the others count.
 * @throws FailureError where the file can't be read
 */
export function readSession(path: string): ReadSession {
  const { text, touchedAt } = contentOf(path);
  const lines = text.split('\n');
  const rest = lines.at(-1) || undefined;
  const head = parseHead(lines[0] ?? '');
  const { damage, end, ...records } = recordsOf(lines);
  return {
    path,
    head: head ?? headByName(path),
    hasHead: head !== undefined,
    ...records,
    damage: head === undefined ? [1, ...damage] : damage,
    // The name is changed once the end is on disk.
    end: end ?? (path.endsWith(finishedName) ? { how: 'unreadable' } : undefined),
    touchedAt,
    rest,
  };
}

function recordsOf(lines: readonly string[]): Pick<ReadSession, 'scans' | 'damage' | 'claims' | 'end'> {
  const scans: ScanRecord[] = [];
  let damage: number[] = [];
  let claims: ProcessIdentity[] = [];
  let end: SessionEnd | undefined;
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line === '') continue;
    const record = parseRecord(line);
    if (record === undefined) {
      if (!isCutOff(lines, index)) damage.push(index + 1);
    } else if (isScan(record)) scans.push(record);
    else if ('claim' in record) claims.push(record.claim);
    else if ('leave' in record) claims = claims.filter((claim) => !isSame(claim, record.leave));
    else if ('without' in record) damage = [];
    else if ('end' in record) end ??= record.end;
  }
  return { scans, damage, claims, end };
}

/** What a session without a readable first line is listed as. It is of no environment, so that no command counts it for one. */
function headByName(path: string): SessionHead {
  const session = basename(path).replace(/\.\w+$/, '');
  const [, date = '', hours, minutes, seconds] = /^(\d{8})T(\d\d)(\d\d)(\d\d)Z/.exec(session) ?? [];
  const day = date.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3');
  const at = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  return { session, at: Number.isNaN(at) ? 0 : at, env: '', service: '', baseUrl: '', merged: [] };
}

/** The last line may be half of one; whoever takes the session next puts a record behind it that says so. */
function isCutOff(lines: readonly string[], index: number): boolean {
  const next = lines[index + 1];
  if (next === undefined) return true;
  const record = parseRecord(next);
  return record !== undefined && 'cut' in record;
}

/** Whether what was cut off may have been a scan, which then does not count. */
export function hasLostScan({ rest }: Pick<ReadSession, 'rest'>): boolean {
  return rest !== undefined && parseRecord(rest) === undefined && !/^\{"(?:claim|leave|cut|without|end)/.test(rest);
}

function contentOf(path: string): { readonly text: string; readonly touchedAt: number } {
  try {
    const { mtimeMs } = statSync(path);
    return { text: readFileSync(path, 'utf8'), touchedAt: mtimeMs };
  } catch (cause) {
    throw new FailureError(`The session in ${path} can't be read: ${readErrorReason(cause)}`, { cause });
  }
}

export function isSame(one: ProcessIdentity, other: ProcessIdentity): boolean {
  const { host, namespace, boot, pid, startedAt } = one;
  return (
    host === other.host &&
    namespace === other.namespace &&
    boot === other.boot &&
    pid === other.pid &&
    startedAt === other.startedAt
  );
}

/** A session is kept alive so often while a process is at it, and is free so long after: milliseconds. */
export const keepAliveEvery = 5000;
const aliveFor = 15_000;

/**
 * The process that is at a session: the first that is still there. Of one in another container, or before a restart, it can't be
 * seen; it counts as gone once it has not kept the session alive for 15 s. An earlier claim of this process does not count.
 */
export function holderOf(
  { claims, touchedAt }: Pick<ReadSession, 'claims' | 'touchedAt'>,
  { clock, processes }: { readonly clock: Clock; readonly processes: Processes },
): ProcessIdentity | undefined {
  const { self } = processes;
  return claims.find((claim) => {
    if (isSame(claim, self)) return false;
    if (processes.isGone(claim)) return false;
    const isBeside = claim.host === self.host && claim.namespace === self.namespace && claim.boot === self.boot;
    return isBeside || clock.now() - touchedAt < aliveFor;
  });
}
