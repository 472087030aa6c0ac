import { ChangeCollector, type ChangeFile } from './collector.ts';
import { DelimitedRows } from './delimited/rows.ts';
import { BrokenFileError, broken } from './fault.ts';
import { type ChangeFormat, formatOfName, kindOf, showsKind } from './format.ts';
import { createJsonRows } from './json/rows.ts';
import { longestRow } from './lines.ts';
import type { RowReader } from './row-reader.ts';
import { decodeText } from './text.ts';

export type { ChangeFile } from './collector.ts';
export type { FileFault, PlaceUnit } from './fault.ts';
export { type ChangeFormat, changeFormats } from './format.ts';

export interface ReadOptions {
  /** The name of the file, for its extension; undefined for stdin. */
  readonly name: string | undefined;
  /** The format that was asked for: it goes before the extension. */
  readonly format: ChangeFormat | undefined;
  /** How many bytes are looked at together; default 65,536. */
  readonly pieceBytes?: number | undefined;
}

/**
 * Reads a file of changes, all of it, and finds every fault that it has. What is kept of it is the changes alone, so the
 * size of the file doesn't matter.
 * @throws what `source` throws: it is the caller who knows what it reads from
 */
export async function readChanges(source: AsyncIterable<Uint8Array>, options: ReadOptions): Promise<ChangeFile> {
  const collector = new ChangeCollector();
  try {
    await readRows(decodeText(source, options.pieceBytes ?? 65_536), options, collector);
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
    collector.faults.add(error.fault);
  }
  return collector.finish();
}

async function readRows(
  pieces: AsyncIterable<string>,
  options: ReadOptions,
  collector: ChangeCollector,
): Promise<void> {
  let head = '';
  let reader: RowReader | undefined;
  for await (const piece of pieces) {
    if (reader !== undefined) {
      reader.write(piece);
      continue;
    }
    head += piece;
    if (!showsKind(head)) {
      if (head.length > longestRow) broken(1, 'the file begins with a megabyte of nothing');
      continue;
    }
    reader = createReader(head, options, collector);
    reader.write(head);
    head = '';
  }
  reader ??= createReader(head, options, collector);
  reader.write(head);
  reader.end();
}

function createReader(head: string, { name, format }: ReadOptions, collector: ChangeCollector): RowReader {
  const kind = kindOf(head, format ?? (name === undefined ? undefined : formatOfName(name)));
  const { faults } = collector;
  const add = collector.add.bind(collector);
  return kind === 'delimited' ? new DelimitedRows(faults, add) : createJsonRows(kind, faults, add);
}
