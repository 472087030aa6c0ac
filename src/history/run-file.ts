import { FailureError } from '../shared/errors.ts';
import { decodeRecord, type FileRecord, type Writer } from './file-records.ts';
import { findRun, historyFolder, runPath } from './folder.ts';
import { linesOf } from './lines.ts';
import type { Outcome, RecordedRow, RecordedRun, RecordedState } from './records.ts';

/** The file of a run, read through. */
export interface RunFile {
  readonly recorded: RecordedRun;
  /** Those who have written it, in the order in which they came. */
  readonly writers: readonly FileWriter[];
  /** Changes of the plan that can't be read any more: the file was damaged. */
  readonly lost: number;
}

interface FileWriter extends Writer {
  readonly ended: boolean;
}

/**
 * A run as its file tells it. Lines that are torn or garbled are passed over.
 * @param run its id, or the last four characters of it
 * @throws UsageError, NotFoundError as `findRun` does; FailureError where the file makes no sense
 */
export function readRun(stateFolder: string, run: string): RecordedRun {
  return readRunFile(stateFolder, findRun(stateFolder, run)).recorded;
}

/**
 * @param run a whole id
 * @throws FailureError where the file can't be read, has lost its first line, or is of a later version
 */
export function readRunFile(stateFolder: string, run: string): RunFile {
  return reading(stateFolder, run, (records, head) => fold(head, records));
}

/** What a run is about, without its rows. Throws as `readRunFile` does. */
export function readHead(stateFolder: string, run: string): Head {
  return reading(stateFolder, run, (_records, head) => head);
}

type Head = FileRecord & { readonly type: 'run' };

function reading<T>(stateFolder: string, run: string, use: (records: Iterable<FileRecord>, head: Head) => T): T {
  const records = recordsOf(runPath(stateFolder, run));
  try {
    const first = records.next().value;
    if (first?.type === 'later') throw new Error('a later version of petstock has written it');
    if (first?.type !== 'run') throw new Error('its first line is damaged');
    return use(records, first);
  } catch (cause) {
    const { message } = cause as Error;
    throw new FailureError(`Run ${run} in ${historyFolder(stateFolder)} can't be read (${message})`, { cause });
  } finally {
    records.return(undefined);
  }
}

function* recordsOf(path: string): Generator<FileRecord, undefined, undefined> {
  for (const line of linesOf(path)) {
    const record = decodeRecord(line);
    if (record !== undefined) yield record;
  }
}

type Draft<T> = { -readonly [Field in keyof T]: T[Field] };

function fold(head: Head, records: Iterable<FileRecord>): RunFile {
  const { type: _type, pid, boot, ...about } = head;
  const writers: Draft<FileWriter>[] = [{ pid, boot, ended: false }];
  const rows = new Map<number, Draft<RecordedRow>>();
  let ready: (FileRecord & { type: 'ready' }) | undefined;
  for (const record of records) {
    if (record.type === 'change') {
      const { type: _type, ...change } = record;
      if (!rows.has(change.row))
        rows.set(change.row, { ...change, state: 'pending', quantity: undefined, error: undefined });
    } else if (record.type === 'ready') ready ??= record;
    else if (record.type === 'intent') settle(rows.get(record.row), 'open', {});
    else if (record.type === 'outcome') settle(rows.get(record.row), stateAfter(record.result), record);
    else foldWriter(writers, record);
  }
  const planned = ready !== undefined;
  const recorded = { ...about, planned, unchanged: ready?.unchanged ?? 0, rows: [...rows.values()] };
  return { recorded, writers, lost: Math.max(0, (ready?.changes ?? 0) - rows.size) };
}

function settle(
  row: Draft<RecordedRow> | undefined,
  state: RecordedState,
  { quantity, error }: Pick<Outcome, 'quantity' | 'error'>,
): void {
  if (row !== undefined) Object.assign(row, { state, quantity, error });
}

function stateAfter(result: Outcome['result']): RecordedState {
  if (result === 'unknown') return 'open';
  return result === 'void' ? 'pending' : result;
}

function foldWriter(writers: Draft<FileWriter>[], record: FileRecord): void {
  if (record.type === 'resume') writers.push({ pid: record.pid, boot: record.boot, ended: false });
  if (record.type !== 'end') return;
  for (const writer of writers) writer.ended ||= isSame(writer, record);
}

/** Of one start of the machine, a number is one process at a time. */
export function isSame(one: Writer, other: Writer): boolean {
  return one.pid === other.pid && one.boot === other.boot;
}
