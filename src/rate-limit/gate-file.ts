import { closeSync, fsyncSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../shared/clock.ts';
import { makePrivateFolder, readPrivateFile } from '../shared/private-files.ts';
import { boundedGate, type Gate, gateNow, laterGate, noGate } from './key-state.ts';

/**
 * A line of the file: a gate, by the wall clock of this machine. A line whose `at` is 0 clears what the lines before it
 * say about its key.
 */
type Line = Gate & { readonly scope: string };

/** What was read from a file, and what identifies this version of it. */
interface Content {
  readonly version: string;
  readonly lines: readonly Line[];
}

/** A file with more bytes than this is set aside when the next gate is written. */
const maxSize = 65_536;

/**
 * The gates of all keys in one file, beside the database, so that a Retry-After outlasts a state that is locked, full,
 * damaged or away. Lines are only appended: processes that write at the same time lose nothing, and half a line that a
 * power cut left is skipped. Where the first folder can't be written to, the file is in the second; both are read.
 */
export class GateFile {
  readonly #folders: readonly string[];
  readonly #clock: Pick<Clock, 'now'>;
  readonly #known = new Map<string, Content>();

  /** @param folders the state folder, and one in the system's temporary folder; neither needs to exist */
  constructor(folders: readonly string[], clock: Pick<Clock, 'now'>) {
    this.#folders = folders;
    this.#clock = clock;
  }

  /**
   * Returns the gate of a key by the wall clock of this machine. Never throws: a file that can't be read has no gate.
   * Call this before each request; a file that has not changed is not read again.
   */
  gate(scope: string): Gate {
    return this.#gates().get(scope) ?? noGate;
  }

  /** Returns the gates that hold now, by their keys. */
  gates(): ReadonlyMap<string, Gate> {
    return this.#gates();
  }

  /**
   * Writes a gate to disk before anything else happens.
   * @returns the error if neither folder takes it
   */
  write(scope: string, gate: Gate): unknown {
    return this.#append([{ ...gate, scope }]);
  }

  /**
   * Clears the gate of a key.
   * @throws the error if that can't be written
   */
  clear(scope: string): void {
    if (this.gate(scope) === noGate) return;
    const problem = this.#append([{ ...noGate, scope }], this.#folders);
    if (problem !== undefined) throw problem;
  }

  #gates(): Map<string, Gate> {
    const now = this.#clock.now();
    const gates = new Map<string, Gate>();
    for (const folder of this.#folders) {
      for (const [scope, gate] of this.#holding(folder, now)) {
        gates.set(scope, laterGate(gates.get(scope) ?? noGate, gate));
      }
    }
    return gates;
  }

  #holding(folder: string, now: number): Map<string, Gate> {
    const gates = new Map<string, Gate>();
    for (const line of [...this.#read(`${fileIn(folder)}.old`), ...this.#read(fileIn(folder))]) {
      const { scope, ...gate } = line;
      if (gate.at === 0) gates.delete(scope);
      else if (gate.at > now) gates.set(scope, laterGate(gates.get(scope) ?? noGate, gate));
    }
    for (const [scope, gate] of gates) {
      // The clock was set back: from here on the gate counts from now, for every process.
      const moved = gateNow(gate, now);
      if (moved === gate) continue;
      gates.set(scope, moved);
      this.#append(
        [
          { ...noGate, scope },
          { ...moved, scope },
        ],
        [folder],
      );
    }
    return gates;
  }

  #read(file: string): readonly Line[] {
    try {
      const stats = statSync(file, { throwIfNoEntry: false });
      if (stats === undefined) return [];
      const version = `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
      const known = this.#known.get(file);
      if (known?.version === version) return known.lines;
      const lines = parsed(readPrivateFile(file)?.text ?? '');
      this.#known.set(file, { version, lines });
      return lines;
    } catch {
      return [];
    }
  }

  /**
   * Appends lines to the file in the first folder that takes them; if folders are given, in each of them that has one.
   * @returns the last error, unless a folder has taken the lines
   */
  #append(lines: readonly Line[], each?: readonly string[]): unknown {
    let problem: unknown;
    for (const folder of each ?? this.#folders) {
      try {
        if (each !== undefined && statSync(fileIn(folder), { throwIfNoEntry: false }) === undefined) continue;
        makePrivateFolder(folder);
        this.#setAside(folder);
        appendSynced(fileIn(folder), lines);
        if (each === undefined) return undefined;
      } catch (error) {
        problem = error;
      }
    }
    return problem;
  }

  /** Begins a new file if the old one has become long. What still holds in the one before is written again. */
  #setAside(folder: string): void {
    const file = fileIn(folder);
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= maxSize) return;
    const holding = this.#holding(folder, this.#clock.now());
    renameSync(file, `${file}.old`);
    appendSynced(
      file,
      Array.from(holding, ([scope, gate]) => ({ ...gate, scope })),
    );
  }
}

function fileIn(folder: string): string {
  return join(folder, 'gates.ndjson');
}

/** Each line begins with a line feed, too, because half a line may be before it. */
function appendSynced(file: string, lines: readonly Line[]): void {
  const descriptor = openSync(file, 'a', 0o600);
  try {
    const text = lines.map((line) => `\n${JSON.stringify(line)}\n`).join('');
    // A disk that is nearly full takes a part.
    if (writeSync(descriptor, text) < Buffer.byteLength(text)) throw new Error('the disk is full');
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function parsed(text: string): Line[] {
  return text.split('\n').flatMap((line) => {
    try {
      const { scope, at, length, reason } = JSON.parse(line) as Line;
      const isLine = typeof scope === 'string' && Number.isFinite(at) && Number.isFinite(length);
      return isLine ? [{ scope, ...boundedGate({ at, length, reason }) }] : [];
    } catch {
      return [];
    }
  });
}
