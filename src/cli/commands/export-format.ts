import { type ChangeFormat, changeFormats, formatOfName } from '../../change-files/read-rows.ts';
import { UsageError } from '../../shared/errors.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { requireFileName } from './option-values.ts';

/**
 * Returns the format of a file to write: the typed one, otherwise that of the file's name, otherwise that of a
 * variable. The setting `output` applies only to the screen.
 * @param file the path; `-` for stdout
 * @param usual the format if nothing determines one
 * @param known the formats that the command can write
 * @throws UsageError if the file has the extension of another format or of a workbook
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
      `${file} has the extension of a workbook, but ${command} writes text. Use a name that ends in .csv`,
    );
  }
  if (named !== undefined && format !== named && !(isTable(format) && isTable(named))) {
    throw new UsageError(
      `${file} has the extension of ${named}, but ${command} writes ${format} here. Use a name that ends in .${format}`,
    );
  }
  return format;
}

/**
 * Refuses `--no-header`, because petstock can read the written file again only by its header line.
 * @throws UsageError if `--no-header` was typed
 */
export function requireHeader({ globals, command }: Pick<Invocation, 'globals' | 'command'>): void {
  if (globals.typed.header !== false) return;
  throw new UsageError(`${command} needs a header line, so that its file can be read again. Leave out --no-header`);
}
