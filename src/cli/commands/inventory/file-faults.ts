import type { FileFault, PlaceUnit } from '../../../change-files/fault.ts';
import { grouped } from '../../../inventory/values.ts';
import { InterruptedError, UsageError } from '../../../shared/errors.ts';
import { fileErrorReason } from '../../../shared/file-error.ts';

/** Why a file can't even be read, in words. Other errors are handed back as they are. */
export function unreadableFile(file: string, error: NodeJS.ErrnoException): unknown {
  if (error instanceof InterruptedError) return new InterruptedError('Interrupted; nothing was sent');
  switch (error.code) {
    case 'ENOENT':
      return new UsageError(file === '' ? 'The name of the file is empty' : `There is no file ${file}`, {
        cause: error,
      });
    case 'EISDIR':
      return new UsageError(`${file} is a folder, not a file`, { cause: error });
    case 'EACCES':
    case 'EPERM':
      return new UsageError(`${file} can't be read: permission denied`, { cause: error });
    case 'EBUSY':
      return new UsageError(`${file} can't be read: ${fileErrorReason(error)}`, { cause: error });
    default:
      return error;
  }
}

/** Everything that is wrong with a file. @param nothing what has not been done for it: `nothing was sent` */
export function faultyFile(
  file: string,
  { faults, total, unit }: { readonly faults: readonly FileFault[]; readonly total: number; readonly unit: PlaceUnit },
  { nothing, hint }: { readonly nothing: string; readonly hint?: string | undefined },
): UsageError {
  const name = file === '-' ? 'stdin' : file;
  const count = total === 1 ? 'a fault' : `${grouped(total)} faults`;
  const lines = faults.map(({ line, column, message }) => `${unit} ${line}${column ? `, ${column}` : ''}: ${message}`);
  const named = total > faults.length ? `, of which the first ${grouped(faults.length)} are named` : '';
  return new UsageError(`${name} has ${count}${named}; ${nothing}`, { lines, faults, faultCount: total, hint });
}
