import { type ChangeFormat, changeFormats, formatOfName } from '../../change-files/read-rows.ts';
import { UsageError } from '../../shared/errors.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { requireFileName } from './option-values.ts';

/**
 * Returns the format of a file that is written: the one that was asked for, else that of its name. The setting `output` is about what a
 * person is shown.
 * @param file `-`: stdout
 * @param usual if nothing says one
 * @param known the formats that the command writes
 * @throws UsageError if a reader would take the file for another
 */
export function exportFormat(
  { globals, command }: Pick<Invocation, 'globals' | 'command'>,
  file: string,
  usual: ChangeFormat,
  known: readonly ChangeFormat[] = changeFormats,
): ChangeFormat {
  requireFileName(file, command);
  const formatOf = (text: unknown) => known.find((format) => format === text);
  const named = formatOfName(file);
  const { json, typed, output } = globals;
  const format = formatOf(json ? 'json' : typed.output) ?? formatOf(named) ?? formatOf(output) ?? usual;
  const isTable = (one: ChangeFormat | undefined) => one === 'csv' || one === 'tsv';
  if (/\.(?:xlsx?|ods)$/i.test(file)) {
    throw new UsageError(
      `${command} writes text, and ${file} would be taken for a workbook: name it .csv, and open that`,
    );
  }
  if (named !== undefined && format !== named && !(isTable(format) && isTable(named))) {
    throw new UsageError(
      `${command} writes ${format} here, and ${file} would be taken for ${named}: name it .${format}`,
    );
  }
  return format;
}

/** @throws UsageError if the file is asked for without the header line by which it is read again */
export function requireHeader({ globals, command }: Pick<Invocation, 'globals' | 'command'>): void {
  if (globals.typed.header !== false) return;
  throw new UsageError(`${command} writes a header line, by which the file is read again. Leave --no-header out`);
}
