import { fold } from './fold.ts';
import { createGeneration, type Generations, latestGeneration, openGeneration, readGeneration } from './generations.ts';
import { emptyState, encodeState, join, type KeyState } from './key-state.ts';
import type { Ledger } from './ledger.ts';
import type { LedgerEntry, OpenLedgerFile } from './open-ledger-file.ts';
import { encodeRecord, type LedgerRecord } from './records.ts';

export interface FileLedgerOptions extends Generations {
  /** Told once, with the reason, when the ledger can't be used: from then on it is this process's own. */
  onFallback(reason: Error): void;
  /** Bytes at which a ledger is sealed; default 64 KiB, which a command reads in some milliseconds. */
  readonly sealAt?: number;
  /** Tells this process's temporary file from those of others. */
  readonly unique: string;
}

/**
 * A ledger in a file that any number of processes append to, without a lock. Each record is one `O_APPEND` write that
 * begins with a line feed, so a torn one is skipped. What a record means is decided by what stands before it, so a
 * process that appends and then reads up to its own record comes to the same verdict as every other reader.
 */
export function createFileLedger(options: FileLedgerOptions): Ledger {
  const { onFallback, sealAt = 64 * 1024, unique } = options;
  let alone = false;
  let state = emptyState();
  let file: OpenLedgerFile | undefined;

  /** Runs on the file, or, once that has failed, without it. Nothing that is known is forgotten then. */
  const attempt = (work: (file: OpenLedgerFile) => void, otherwise: () => void): void => {
    const known = state;
    try {
      if (!alone) work(file ?? enter(latestGeneration(options)));
    } catch (error) {
      alone = true;
      file?.close();
      state = join(join(state, known), readState(options));
      onFallback(error as Error);
    }
    if (alone) otherwise();
  };

  const enter = (generation: number): OpenLedgerFile => {
    const opened = openGeneration(options, generation);
    const latest = latestGeneration(options);
    if (latest > generation) {
      // Others have gone on and cleared up since we looked: what was opened may be a new, empty file of an old name.
      opened.close();
      return enter(latest);
    }
    file?.close();
    file = opened;
    state = emptyState();
    read(opened);
    return file;
  };

  /** Takes in what has been appended. @returns whether our own record was among it */
  const read = (current: OpenLedgerFile, own?: LedgerEntry): boolean => {
    let found = false;
    for (const entry of current.newEntries(own)) {
      if (entry.record.type === 'seal') {
        follow(current.generation + 1);
        return found;
      }
      fold(state, entry.record);
      found ||= entry === own;
    }
    if (!current.isRemoved) return found;
    moveOn();
    return false;
  };

  /** Goes on in the generation behind a seal, which begins with a summary of what all know. */
  const follow = (generation: number): void => {
    if (latestGeneration(options) < generation) createGeneration(options, generation, summary(), unique);
    enter(latestGeneration(options));
  };

  /** Somebody has removed the folder. What we know goes into the ledger that takes its place, beside what others know. */
  const moveOn = (): void => {
    const record: LedgerRecord = { type: 'summary', state: encodeState(state) };
    append(enter(latestGeneration(options)), { line: encodeRecord(record), record });
  };

  const summary = (): string => encodeRecord({ type: 'summary', state: encodeState(state) });

  const append = (current: OpenLedgerFile, entry: LedgerEntry): void => {
    current.append(entry.line);
    // What others have to know at once; of any other answer it is early enough with the next request.
    if (entry.record.type !== 'answer' || entry.record.status === 429) current.checkRemoved();
    if (!read(current, entry)) {
      // In the same file it should have been found; else it came behind a seal, and is written again behind the summary.
      if (file === undefined || file === current) throw new Error('a record could not be written whole');
      append(file, entry);
    } else if (current === file && current.size > sealAt) {
      current.append(encodeRecord({ type: 'seal' }));
      read(current);
    }
  };

  return {
    get state() {
      return state;
    },
    get alone() {
      return alone;
    },
    refresh: () =>
      attempt(
        (current) => {
          current.checkRemoved();
          read(current);
        },
        () => {},
      ),
    glance: () =>
      attempt(
        (current) => void read(current),
        () => {},
      ),
    commit: (record: LedgerRecord) =>
      attempt(
        (current) => append(current, { line: encodeRecord(record), record }),
        () => fold(state, record),
      ),
  };
}

/** What a ledger says, read once, without a trace. */
export function readState(files: Generations): KeyState {
  const state = emptyState();
  for (const record of readGeneration(files)) fold(state, record);
  return state;
}
