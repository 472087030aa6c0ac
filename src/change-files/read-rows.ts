import type { RawRow } from './collector.ts';
import { DelimitedRows } from './delimited/rows.ts';
import { BrokenFileError, broken, type FaultList } from './fault.ts';
import { FieldNames, type NamingOptions } from './field-names.ts';
import { type ChangeFormat, formatOfName, kindOf, showsKind } from './format.ts';
import { createJsonRows } from './json/rows.ts';
import { longestRow } from './lines.ts';
import type { RowReader } from './row-reader.ts';
import { decodeText } from './text.ts';

export interface ReadOptions extends NamingOptions {
  /** The name of the file, for its extension; undefined for stdin. */
  readonly name: string | undefined;
  /** The format that was asked for: it goes before the extension. */
  readonly format: ChangeFormat | undefined;
  /** How many bytes are looked at together; default 65,536. */
  readonly pieceBytes?: number | undefined;
}

/** Takes the rows of a file, and what is wrong with it. */
export interface RowSink {
  readonly faults: FaultList;
  add(row: RawRow): void;
}

/**
 * Reads the rows of a file in any of its formats, up to its end or to where nothing after can be understood.
 * @throws what `source` throws
 */
export async function readRows(source: AsyncIterable<Uint8Array>, options: ReadOptions, sink: RowSink): Promise<void> {
  try {
    await readPieces(decodeText(source, options.pieceBytes ?? 65_536), options, sink);
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
    sink.faults.add(error.fault);
  }
}

async function readPieces(pieces: AsyncIterable<string>, options: ReadOptions, sink: RowSink): Promise<void> {
  let head = '';
  let reader: RowReader | undefined;
  for await (const piece of pieces) {
    if (reader !== undefined) {
      reader.write(piece);
      continue;
    }
    head += piece;
    if (!showsKind(head)) {
      if (head.length > longestRow) broken(1, 'the file begins with a megabyte of white space');
      continue;
    }
    reader = createReader(head, options, sink);
    reader.write(head);
    head = '';
  }
  reader ??= createReader(head, options, sink);
  reader.write(head);
  reader.end();
}

function createReader(head: string, { name, format, ...naming }: ReadOptions, sink: RowSink): RowReader {
  const kind = kindOf(head, format ?? (name === undefined ? undefined : formatOfName(name)));
  const { faults } = sink;
  const names = new FieldNames(naming);
  const add = sink.add.bind(sink);
  return kind === 'delimited' ? new DelimitedRows(faults, add, names) : createJsonRows(kind, { faults, names }, add);
}
