import { createReadStream, statSync } from 'node:fs';
import { readCodes } from '../../../../change-files/read-codes.ts';
import { grouped } from '../../../../inventory/grouped.ts';
import { UsageError } from '../../../../shared/errors.ts';
import { readErrorReason } from '../../../../shared/file-error.ts';
import { requireFileName } from '../../values.ts';

/** The bar codes of a file. @throws UsageError with every fault that it has */
export async function codesOf(file: string | undefined): Promise<ReadonlyMap<string, bigint>> {
  if (file === undefined) return new Map();
  requireFileName(file, '--codes');
  if (file === '-') throw new UsageError('--codes takes a file: what is scanned comes from stdin');
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`${file} is a folder; --codes takes a file`);
  }
  const read = await readCodes(createReadStream(file)).catch((cause: NodeJS.ErrnoException) => {
    const why =
      cause.code === 'ENOENT' ? `There is no file ${file}` : `${file} can't be read: ${readErrorReason(cause)}`;
    throw new UsageError(why, { cause });
  });
  if (read.ok) return read.codes;
  const lines = read.faults.map(
    ({ line, column, message }) => `line ${line}${column ? `, ${column}` : ''}: ${message}`,
  );
  if (read.total > lines.length) lines.push(`… and ${grouped(read.total - lines.length)} more`);
  const faults = read.total === 1 ? 'a fault' : `${grouped(read.total)} faults`;
  throw new UsageError(`${file} has ${faults}; nothing was counted`, { lines });
}
