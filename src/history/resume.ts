import { closeSync, constants, fsyncSync, openSync, writeSync } from 'node:fs';
import { ConflictError, FailureError, UsageError } from '../shared/errors.ts';
import { encodeRecord } from './file-records.ts';
import { findRun, historyFolder, runPath, writeFailure } from './folder.ts';
import { type Journal, journalOn } from './journal.ts';
import { beginWriting, endWriting, isWriting, type Machine } from './machine.ts';
import type { RecordedRun } from './records.ts';
import { isSame, readHead, readRunFile } from './run-file.ts';

export interface ResumeOptions extends Machine {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** A run that this process may go on with. */
export interface ResumedRun {
  readonly recorded: RecordedRun;
  /** It appends to the file of the run. */
  readonly journal: Journal;
}

/**
 * Goes on with a run. Appends fall into one order, so of two processes that want to resume at once both see who was first.
 * @param run its id, or the last four characters of it
 * @throws ConflictError while another process goes on with it; UsageError where nothing of it was sent;
 *   NotFoundError, FailureError
 */
export async function resumeJournal(stateFolder: string, run: string, options: ResumeOptions): Promise<ResumedRun> {
  const id = findRun(stateFolder, run);
  const path = runPath(stateFolder, id);
  // A file of a later version is left alone.
  readHead(stateFolder, id);
  if (!beginWriting(path)) throw goingOn(id, options.pid);
  let file: number | undefined;
  try {
    file = openForAppending(stateFolder, path);
    enter(stateFolder, file, options);
    return { recorded: takeOver(stateFolder, id, options), journal: journalOn(file, id, { stateFolder, ...options }) };
  } catch (error) {
    if (file !== undefined) leave(file, options);
    endWriting(path);
    throw error;
  }
}

/** Without making it: it may have been removed since. */
function openForAppending(stateFolder: string, path: string): number {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_APPEND);
  } catch (cause) {
    throw writeFailure(stateFolder, cause);
  }
}

function enter(stateFolder: string, file: number, { now, pid, boot }: ResumeOptions): void {
  const record = encodeRecord({ type: 'resume', at: new Date(now()).toISOString(), pid, boot });
  try {
    // It begins with a line feed, since the last record of a process that was killed may be torn.
    const bytes = Buffer.from(`\n${record}`);
    if (writeSync(file, bytes) < bytes.length) throw new Error('the disk is full');
    fsyncSync(file);
  } catch (cause) {
    throw writeFailure(stateFolder, cause);
  }
}

/** Best effort: where it can't be written, others see that the process is gone once it is. */
function leave(file: number, { now, pid, boot }: ResumeOptions): void {
  try {
    writeSync(file, `\n${encodeRecord({ type: 'end', at: new Date(now()).toISOString(), pid, boot })}`);
  } catch {
    // The error that is on its way matters more.
  } finally {
    closeSync(file);
  }
}

function takeOver(stateFolder: string, run: string, options: ResumeOptions): RecordedRun {
  const { recorded, writers, lost } = readRunFile(stateFolder, run);
  const own = writers.findLastIndex((writer) => isSame(writer, options));
  const path = runPath(stateFolder, run);
  const rival = writers
    .slice(0, Math.max(0, own))
    .find((writer) => !writer.ended && !isSame(writer, options) && isWriting(writer, path, options));
  if (rival !== undefined) throw goingOn(run, rival.pid);
  if (!recorded.planned) {
    throw new UsageError(
      `Run ${run} broke off before anything of it was sent: nothing of it was sent; apply the file again`,
    );
  }
  if (lost > 0) {
    const folder = historyFolder(stateFolder);
    throw new FailureError(
      `Run ${run} in ${folder} is damaged: ${lost} of its changes can't be read; apply the file again`,
    );
  }
  return recorded;
}

function goingOn(run: string, pid: number): ConflictError {
  return new ConflictError(`Run ${run} is still going on in process ${pid}`, { hint: `petstock history show ${run}` });
}
