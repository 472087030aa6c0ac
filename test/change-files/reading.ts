import { type ChangeFile, readChanges } from '../../src/change-files/read-changes.ts';
import { readCodes } from '../../src/change-files/read-codes.ts';
import type { ReadOptions } from '../../src/change-files/read-rows.ts';
import type { BarCodes } from '../../src/inventory/bar-codes.ts';

/** The fields that a change may omit. */
export const blank = { quantity: undefined, delta: undefined, expected: undefined, reason: undefined, ref: undefined };

/** Reads a change file from its content. */
export function read(content: string | Uint8Array, options: Partial<ReadOptions> = {}): Promise<ChangeFile> {
  return readChunks([typeof content === 'string' ? Buffer.from(content) : content], options);
}

export function readChunks(chunks: Iterable<Uint8Array>, options: Partial<ReadOptions> = {}): Promise<ChangeFile> {
  return readChanges(each(chunks), { name: undefined, format: undefined, ...options });
}

/** Reads the rows of a codes file with the columns code, petId, name, low and units. */
export async function codesOf(...rows: readonly string[]): Promise<BarCodes> {
  const file = await readCodes(each([Buffer.from(`code,petId,name,low,units\n${rows.join('\n')}`)]));
  if (!file.ok) throw new Error(file.problems.map(({ message }) => message).join());
  return file.codes;
}

/** Returns the faults as lines of text, such as `7 quantity: …`. */
export function faultLines(file: ChangeFile): readonly string[] {
  if (file.ok) return [];
  return file.problems.map(
    ({ line, column, message }) => `${line}${column === undefined ? '' : ` ${column}`}: ${message}`,
  );
}

export async function faultsOf(
  content: string | Uint8Array,
  options?: Partial<ReadOptions>,
): Promise<readonly string[]> {
  return faultLines(await read(content, options));
}

async function* each(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** Splits bytes into chunks of these lengths, which are used over and over. */
export function cut(bytes: Uint8Array, lengths: readonly number[]): readonly Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = lengths[chunks.length % lengths.length] ?? bytes.length;
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}
