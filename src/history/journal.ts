import { closeSync, rmSync, writeSync } from 'node:fs';
import { AppendFile } from './append-file.ts';
import { encodeChange, encodeRecord, formatVersion, type Writer } from './file-records.ts';
import { createRunFile, runPath, writeFailure } from './folder.ts';
import { beginWriting, endWriting } from './machine.ts';
import type { JournalChange, Outcome, RunHead } from './records.ts';

/**
 * The write-ahead journal of one run. The records are in the file in the order of the calls. Every method rejects with
 * a FailureError once a write has failed; what nobody waits for is then told by the next call, and by `close` at last.
 */
export interface Journal {
  /** `20260115T120020Z-k3x9` */
  readonly run: string;
  /**
   * All changes that are to be made, before the first intent. Resolves once they are on disk.
   * @param unchanged rows that need no change
   */
  plan(changes: Iterable<JournalChange>, unchanged: number): Promise<void>;
  /** Resolves once it is on disk that the row is about to be sent. */
  intent(row: number): Promise<void>;
  /** Resolves once it is on disk. Who does not wait risks no more than having to look at the row again. */
  outcome(outcome: Outcome): Promise<void>;
  /** Writes out what is waiting, notes that this process stops, and closes. May be called again. */
  close(): Promise<void>;
}

export interface JournalOptions extends Writer {
  /** `history` in it is where the files are, one a run. */
  readonly stateFolder: string;
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** A number in [0, 1). */
  random(): number;
}

/** Characters of a plan that are written at once. */
const pieceSize = 256 * 1024;

/**
 * Begins the file of a new run.
 * @throws FailureError where it can't be written: then nothing may be sent
 */
export async function openJournal(head: RunHead, options: JournalOptions): Promise<Journal> {
  const { stateFolder, now, random, pid, boot } = options;
  const at = new Date(now()).toISOString();
  try {
    const { run, file } = createRunFile(stateFolder, at, random);
    // Synced with the plan, before anything is sent.
    writeHead(file, runPath(stateFolder, run), { run, at, pid, boot, ...head });
    return journalOn(file, run, options);
  } catch (cause) {
    throw writeFailure(stateFolder, cause);
  }
}

function writeHead(file: number, path: string, head: Readonly<Record<string, unknown>>): void {
  const line = Buffer.from(encodeRecord({ type: 'run', version: formatVersion, ...head }));
  try {
    if (writeSync(file, line) < line.length) throw new Error('the disk is full');
  } catch (error) {
    // A file without its first line would be in the way of whoever lists the history.
    closeSync(file);
    rmSync(path, { force: true });
    throw error;
  }
}

/** The journal of a run on its file, which is open for appending and closed with it. */
export function journalOn(file: number, run: string, options: Omit<JournalOptions, 'random'>): Journal {
  const { stateFolder, now, pid, boot } = options;
  const path = runPath(stateFolder, run);
  const records = new AppendFile(file, (cause) => writeFailure(stateFolder, cause));
  const at = () => new Date(now()).toISOString();
  let closing: Promise<void> | undefined;
  beginWriting(path);

  const end = async (): Promise<void> => {
    try {
      await records.append(encodeRecord({ type: 'end', at: at(), pid, boot }), false);
    } finally {
      endWriting(path);
      await records.close();
    }
  };

  return {
    run,
    plan: async (changes, unchanged) => {
      let count = 0;
      let piece = '';
      for (const change of changes) {
        count += 1;
        piece += encodeChange(change);
        if (piece.length < pieceSize) continue;
        await records.append(piece, false);
        piece = '';
      }
      const ready = encodeRecord({ type: 'ready', at: at(), changes: count, unchanged });
      await records.append(piece + ready, true);
    },
    intent: (row) => records.append(encodeRecord({ type: 'intent', at: at(), row }), true),
    outcome: (outcome) => records.append(encodeRecord({ type: 'outcome', at: at(), ...outcome }), true),
    close: () => {
      closing ??= end();
      return closing;
    },
  };
}
