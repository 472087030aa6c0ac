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
    return this.gates().get(scope) ?? noGate;
  }

  /** Returns the gates that hold now, by their keys. */
  gates(): ReadonlyMap<string, Gate> {
    const now = this.#clock.now();
    const gates = new Map<string, Gate>();
    for (const folder of this.#folders) {
      for (const [scope, gate] of this.#holding(folder)) {
        const held = gateNow(gate, now);
        if (held !== gate) this.#move(folder, scope, held);
        gates.set(scope, laterGate(gates.get(scope) ?? noGate, held));
      }
    }
    return gates;
  }

  /** The clock was set back: from here on the gate counts from now, for every process. */
  #move(folder: string, scope: string, gate: Gate): void {
    try {
      this.#append(folder, { ...noGate, scope }, { ...gate, scope });
    } catch {
      // The next look tries again.
    }
  }

  /**
   * Writes a gate to disk before anything else happens, in the first folder that takes it.
   * @returns the error if neither does
   */
  write(scope: string, gate: Gate): unknown {
    let problem: unknown;
    for (const folder of this.#folders) {
      try {
        this.#append(folder, { ...gate, scope });
        return undefined;
      } catch (error) {
        problem = error;
      }
    }
    return problem;
  }

  /**
   * Clears the gate of a key.
   * @throws the error if that can't be written
   */
  clear(scope: string): void {
    for (const folder of this.#folders) {
      if (this.#holding(folder).has(scope)) this.#append(folder, { ...noGate, scope });
    }
  }

  #holding(folder: string): Map<string, Gate> {
    const now = this.#clock.now();
    const gates = new Map<string, Gate>();
    for (const { scope, ...gate } of [...this.#read(`${fileIn(folder)}.old`), ...this.#read(fileIn(folder))]) {
      if (gate.at === 0) gates.delete(scope);
      else if (gate.at > now) gates.set(scope, laterGate(gates.get(scope) ?? noGate, gate));
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

  /** Appends lines. Sets a file aside that has become long; a new one begins with what still holds in the one before. */
  #append(folder: string, ...lines: readonly Line[]): void {
    makePrivateFolder(folder);
    const file = fileIn(folder);
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    const isLong = size !== undefined && size > maxSize;
    if (isLong) renameSync(file, `${file}.old`);
    const holding = isLong || size === undefined ? this.#holding(folder) : [];
    appendSynced(file, [...Array.from(holding, ([scope, gate]) => ({ ...gate, scope })), ...lines]);
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
