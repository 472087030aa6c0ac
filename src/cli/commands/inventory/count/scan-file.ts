import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { ConflictError, FailureError, fileErrorReason, systemCode, UsageError } from '../../../../shared/errors.ts';

/** The file of a count on a terminal. Each scan is on disk before the next one is read. */
export class ScanFile {
  /** What the file held when it was opened; empty for a new file. */
  readonly text: string;
  /** Whether the file held nothing when it was opened. */
  readonly isNew: boolean;
  readonly #descriptor: number;
  readonly #isCreated: boolean;
  #size: number;
  /** What the first scan is written behind: the header of a new file, or the line end that an old one lacks. */
  #prefix: string;

  private constructor(
    readonly path: string,
    header: string,
  ) {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isFile()) throw new UsageError(`${path} is not a file, so it can't keep scans`);
    this.#isCreated = stats === undefined;
    this.#descriptor = openSync(path, 'a');
    const bytes = readFileSync(path);
    if (/^(?:\xff\xfe|\xfe\xff)/.test(bytes.toString('latin1', 0, 2))) {
      throw new UsageError(`${path} is UTF-16, so scans can't be added to it. To apply it as it is, add --apply-only`);
    }
    this.text = bytes.toString('utf8');
    this.isNew = this.text === '';
    this.#size = fstatSync(this.#descriptor).size;
    this.#prefix = this.isNew ? `${header}\n` : /[\r\n]$/.test(this.text) ? '' : '\n';
  }

  /**
   * Opens a file to append to, or creates it.
   * @param header the first line of a new file
   * @throws UsageError if it is a folder, or can't be written
   */
  static open(path: string, header: string): ScanFile {
    try {
      return new ScanFile(path, header);
    } catch (cause) {
      if (cause instanceof UsageError) throw cause;
      throw new UsageError(`${path} can't be written: ${fileErrorReason(cause)}. Nothing was counted`, { cause });
    }
  }

  /** Creates the file with the first of these names that is free. */
  static create(paths: Iterable<string>, header: string): ScanFile {
    for (const path of paths) {
      if (statSync(path, { throwIfNoEntry: false }) === undefined) return ScanFile.open(path, header);
    }
    throw new UsageError('There is no free name for a new file in this folder. Name a file');
  }

  /**
   * Appends lines. They are on disk when this returns.
   * @throws FailureError if they can't be written; ConflictError if another process scans into the file, too
   */
  append(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.#requireOwn();
    const bytes = Buffer.from(`${this.#prefix}${lines.map((line) => `${line}\n`).join('')}`);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
      fsyncSync(this.#descriptor);
      if (this.isNew && this.#size === 0) syncFolder(dirname(this.path));
    } catch (cause) {
      // A part of a code would be another code.
      ftruncateSync(this.#descriptor, this.#size);
      const why = `${this.path} can't be written: ${fileErrorReason(cause)}`;
      throw new FailureError(`${why}. The last scan is not counted`, { cause });
    }
    this.#prefix = '';
    this.#size += bytes.length;
  }

  /** Whether the file holds anything. */
  get hasScans(): boolean {
    return this.#size > 0;
  }

  /** Closes the file. A new file without scans is removed. */
  close(): void {
    closeSync(this.#descriptor);
    if (this.#isCreated && this.#size === 0) rmSync(this.path, { force: true });
  }

  #requireOwn(): void {
    const own = fstatSync(this.#descriptor);
    const named = statSync(this.path, { throwIfNoEntry: false });
    if (named === undefined || named.ino !== own.ino || named.dev !== own.dev) {
      throw new FailureError(
        `${this.path} was removed or replaced while you counted, so its scans have to be counted again`,
      );
    }
    if (own.size === this.#size) return;
    throw new ConflictError(
      `Somebody else writes to ${this.path}. The last scan is not counted. Give each person a file of their own, and count both together`,
    );
  }
}

/** Syncs a folder, so that a new name in it survives a power failure. Windows can't, and needs it not. */
function syncFolder(path: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    fsyncSync(descriptor);
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EACCES', 'EINVAL'].includes(systemCode(error) ?? '')) throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
