import { type ChangeFormat, changeFormats, formatOfName } from '../../change-files/read-rows.ts';
import { UsageError } from '../../shared/errors.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { requireFileName } from './option-values.ts';

/**
 * Returns the format of a file to be written: the requested one, otherwise that of its name. The setting `output` only applies to the
 * screen.
 * @param file `-`: stdout
 * @param usual the format if neither determines one
 * @param known the formats that the command can write
 * @throws UsageError if a reader would mistake the file's format
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
      `${command} writes text, but a program would open ${file} as a workbook. Name it .csv, and open that`,
    );
  }
  if (named !== undefined && format !== named && !(isTable(format) && isTable(named))) {
    throw new UsageError(
      `${command} writes ${format} here, but the name ${file} stands for ${named}. Use a name that ends in .${format}`,
    );
  }
  return format;
}

/** @throws UsageError if the header line is left out of a file that needs it when it is read again */
export function requireHeader({ globals, command }: Pick<Invocation, 'globals' | 'command'>): void {
  if (globals.typed.header !== false) return;
  throw new UsageError(`${command} needs its header line, because the file is read again by it. Leave out --no-header`);
}
