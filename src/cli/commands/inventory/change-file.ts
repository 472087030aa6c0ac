import { fieldNamed, type RowField, rowFields } from '../../../change-files/field-names.ts';
import { readChanges } from '../../../change-files/read-changes.ts';
import type { ChangeFormat } from '../../../change-files/read-rows.ts';
import { counted } from '../../../inventory/items.ts';
import { UsageError } from '../../../shared/errors.ts';
import { commandLine, type FlagValues, fileOperand, petstock } from '../../../shared/hint.ts';
import { faultyFile, readNamedFile } from '../../input-file.ts';
import type { Invocation } from '../../invocation/invocation.ts';

export interface ReadOptions {
  readonly format?: ChangeFormat;
  readonly columns: ReadonlyMap<RowField, string>;
  readonly ignoreColumns?: boolean;
  readonly minRows: number;
}

/** Returns the words of `inventory apply` with a file and the typed options, for hints. `changes` replaces options. */
export function applyCommand(invocation: Invocation, file: string, changes?: FlagValues): readonly string[] {
  return commandLine(invocation, ['inventory', 'apply', fileOperand(file)], changes);
}

/**
 * Reads a whole change file.
 * @throws UsageError with every error in the file, and for fewer rows than required
 */
export async function readChangeFile(invocation: Invocation, file: string, options: ReadOptions) {
  const { format, columns, ignoreColumns, minRows } = options;
  const name = file === '-' ? undefined : file;
  const bytes = readNamedFile(file, invocation.context);
  const result = await readChanges(bytes, { name, format, columns, ignoreColumns });
  if (result.ok) {
    if (result.rowCount >= minRows) return result;
    const found = `${file === '-' ? 'stdin' : file} has ${counted(result.rowCount, 'row')}`;
    throw new UsageError(`${found}, fewer than --min-rows ${minRows}. Nothing was sent`);
  }
  const { remedy } = result;
  // The hint is a question or, if the file has unknown columns, this command with `--ignore-columns`.
  const reading = applyCommand(invocation, file, { ignoreColumns: true });
  const hint = remedy?.kind !== 'ignore' ? remedy?.question : ignoreColumns ? undefined : petstock`${reading}`;
  throw faultyFile(file, result, 'nothing was sent', hint);
}

/**
 * Parses the values of `--column`: `petId=SKU`.
 * @throws UsageError for another form, an unknown field, and a repeated field or column
 */
export function parseColumns(texts: readonly string[] = []): ReadonlyMap<RowField, string> {
  const hint = 'petstock inventory apply --help';
  const columns = new Map<RowField, string>();
  for (const text of texts) {
    const at = text.indexOf('=');
    const field = rowFields.find((name) => at >= 0 && name === fieldNamed(text.slice(0, at)));
    const name = text.slice(at + 1).trim();
    if (field === undefined || name === '') {
      throw new UsageError(
        `--column takes a field and its column, such as petId=SKU, not "${text}". The fields are ${rowFields.join(', ')}`,
        { hint },
      );
    }
    if (columns.has(field)) throw new UsageError(`--column gives two columns for ${field}. Leave one out`, { hint });
    if ([...columns.values()].includes(name)) {
      throw new UsageError(`--column uses the column "${name}" for two fields. Leave one out`, { hint });
    }
    columns.set(field, name);
  }
  return columns;
}
