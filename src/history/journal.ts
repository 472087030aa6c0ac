import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { FailureError } from '../errors.ts';

/** What one run of a command is about; the first record of its file. */
export interface RunHead {
  /** `inventory set` */
  readonly command: string;
  readonly env: string;
  readonly baseUrl: string;
  /** A hash that tells keys apart; never the key. */
  readonly key: string;
  readonly user: string | undefined;
}

/** One change of stock that is about to be sent. */
export interface Intent {
  /** Counts from 1 within the run. */
  readonly row: number;
  readonly petId: bigint;
  /** The stock that was read before, where it was. */
  readonly before: number | undefined;
  readonly after: number;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
}

/** What became of an intent. One without an outcome, as after a crash, is unknown. */
export interface Outcome {
  readonly row: number;
  readonly result: 'applied' | 'failed' | 'unknown';
  /** The stock that the service answered. */
  readonly quantity?: number | undefined;
  readonly error?:
    | { readonly code: string; readonly message: string; readonly status?: number | undefined }
    | undefined;
}

/** The write-ahead journal of one run: one record a line, JSON, each durable before the call returns. */
export interface Journal {
  /** `20260115T120020Z-k3x9` */
  readonly run: string;
  intent(intent: Intent): void;
  outcome(outcome: Outcome): void;
  close(): void;
}

export interface JournalOptions {
  /** `history` in the state folder is where the files are, one a run. */
  readonly stateFolder: string;
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** A number in [0, 1). */
  random(): number;
}

/** @throws FailureError where the journal can't be written: then nothing may be sent */
export function openJournal(head: RunHead, { stateFolder, now, random }: JournalOptions): Journal {
  const folder = join(stateFolder, 'history');
  const at = () => new Date(now()).toISOString();
  const { run, file } = durably(folder, () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return create(folder, at(), random);
  });
  const append = (record: object) =>
    durably(folder, () => {
      writeSync(file, `${JSON.stringify(record)}\n`);
      fsyncSync(file);
    });
  append({ type: 'run', version: 1, run, at: at(), ...head });
  durably(folder, () => syncFolder(folder));
  return {
    run,
    // As text, since a reader's numbers may not hold an int64.
    intent: (intent) => append({ type: 'intent', at: at(), ...intent, petId: String(intent.petId) }),
    outcome: (outcome) => append({ type: 'outcome', at: at(), ...outcome }),
    close: () => closeSync(file),
  };
}

/** A new file for a new run: its time, and four characters that tell apart those of one second. */
function create(folder: string, at: string, random: () => number): { run: string; file: number } {
  const time = at.replace(/[-:]|\.\d+/g, '');
  for (let attempt = 0; ; attempt += 1) {
    const suffix = Math.floor((random() + attempt / 7) * 36 ** 4) % 36 ** 4;
    const run = `${time}-${suffix.toString(36).padStart(4, '0')}`;
    try {
      return { run, file: openSync(join(folder, `${run}.ndjson`), 'ax', 0o600) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 100) throw error;
    }
  }
}

/** The name of a new file lasts only once its folder is on disk as well. Windows has no such call. */
function syncFolder(folder: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(folder, 'r');
  } catch {
    return;
  }
  try {
    fsyncSync(descriptor);
  } catch {
    // The file system knows no such thing; the file itself has been synced.
  } finally {
    closeSync(descriptor);
  }
}

function durably<T>(folder: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    throw new FailureError(`The history in ${folder} can't be written (${(cause as Error).message})`, { cause });
  }
}
