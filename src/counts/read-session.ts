import { readFileSync, statSync } from 'node:fs';
import type { Clock } from '../shared/clock.ts';
import { FailureError } from '../shared/errors.ts';
import { fileErrorReason } from '../shared/file-error.ts';
import type { Processes, ProcessIdentity } from '../shared/processes.ts';
import { isScan, parseHead, parseRecord, type ScanRecord, type SessionEnd, type SessionHead } from './records.ts';

/** What a session file holds. */
export interface ReadSession {
  readonly path: string;
  readonly head: SessionHead;
  readonly scans: readonly ScanRecord[];
  /** undefined: it is not finished. */
  readonly end: SessionEnd | undefined;
  /** Processes that went to work on it and have not left it, in the order in which they came. Some may be gone. */
  readonly claims: readonly ProcessIdentity[];
  /** When it was last written to or kept alive: milliseconds since the Unix epoch. */
  readonly touchedAt: number;
  /** Its last line has a line end. */
  readonly isWhole: boolean;
}

/**
 * Reads a session, whatever its process is doing meanwhile.
 * @throws FailureError where it can't be read, or is damaged
 */
export function readSession(path: string): ReadSession {
  const { text, touchedAt } = contentOf(path);
  const lines = text.split('\n');
  const isWhole = lines.at(-1) === '';
  if (isWhole) lines.pop();
  const head = parseHead(lines[0] ?? '');
  if (head === undefined) throw damaged(path, 1);
  const scans: ScanRecord[] = [];
  let claims: ProcessIdentity[] = [];
  let end: SessionEnd | undefined;
  for (const [index, line] of lines.entries()) {
    const record = index === 0 || line === '' ? undefined : parseRecord(line);
    if (record === undefined) {
      if (index > 0 && line !== '' && !isCutOff(lines, index)) throw damaged(path, index + 1);
    } else if (isScan(record)) scans.push(record);
    else if ('claim' in record) claims.push(record.claim);
    else if ('leave' in record) claims = claims.filter((claim) => !isSame(claim, record.leave));
    else end ??= record.end;
  }
  return { path, head, scans, end, claims, touchedAt, isWhole };
}

/** The last line may be half of one; whoever comes next begins with who has left, and a claim. */
function isCutOff(lines: readonly string[], index: number): boolean {
  const next = lines[index + 1];
  if (next === undefined) return true;
  const record = parseRecord(next);
  return record !== undefined && ('claim' in record || 'leave' in record);
}

function contentOf(path: string): { readonly text: string; readonly touchedAt: number } {
  try {
    const { mtimeMs } = statSync(path);
    return { text: readFileSync(path, 'utf8'), touchedAt: mtimeMs };
  } catch (cause) {
    throw new FailureError(`The session in ${path} can't be read: ${fileErrorReason(cause)}`, { cause });
  }
}

function damaged(path: string, line: number): FailureError {
  return new FailureError(`The session in ${path} is damaged: line ${line} makes no sense`);
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
 * seen; it counts as gone once it has not kept the session alive for 15 s. An earlier claim of this process is none.
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
