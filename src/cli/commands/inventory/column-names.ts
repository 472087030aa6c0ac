import { fieldOf, type RowField, rowFields } from '../../../change-files/field-names.ts';
import { UsageError } from '../../../shared/errors.ts';

const hint = 'petstock inventory apply --help';

/**
 * The values of `--column`: `petId=SKU`, once for each field.
 * @throws UsageError for an unknown field, and for a field or a column that is named twice
 */
export function parseColumns(texts: readonly string[] = []): ReadonlyMap<RowField, string> {
  const columns = new Map<RowField, string>();
  for (const text of texts) {
    const at = text.indexOf('=');
    const field = rowFields.find((name) => at >= 0 && name === fieldOf(text.slice(0, at)));
    const name = text.slice(at + 1).trim();
    if (field === undefined || name === '') {
      throw new UsageError(
        `--column takes a field and the column that has it, such as petId=SKU; not "${text}". The fields are ${rowFields.join(', ')}`,
        { hint },
      );
    }
    if (columns.has(field)) throw new UsageError(`--column names ${field} twice: leave one out`, { hint });
    if ([...columns.values()].includes(name)) {
      throw new UsageError(`--column names the column "${name}" for two fields: leave one out`, {
        hint,
      });
    }
    columns.set(field, name);
  }
  return columns;
}
