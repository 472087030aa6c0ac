import { changeFileText, readOnlyColumns } from '../../../change-files/change-file-text.ts';
import { type ChangeFormat, changeFormats } from '../../../change-files/read-rows.ts';
import type { PetNames } from '../../../inventory/bar-codes.ts';
import { counted, type ItemBatches } from '../../../inventory/items.ts';
import { plainColumns, type View } from '../../../output/view.ts';
import { UsageError } from '../../../shared/errors.ts';
import { fileOperand, petstock, targetWords } from '../../../shared/hint.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { define, type OptionsOf, optionRows } from '../command.ts';
import { exportFormat, exportTo, forceOption, requireHeader } from '../replace-file.ts';
import { scanStock } from './find-pets.ts';

const exportOptions = optionRows(
  ['--spreadsheet', "write the file for a spreadsheet in the system's language, with every digit of ids"],
  ['--delimiter <d>', 'separator of cells: , ; | or tab'],
  forceOption,
);
type ExportFlags = OptionsOf<typeof exportOptions>;

export const exportCommand = define({
  summary: 'write all stock levels to a file to edit and apply',
  formats: changeFormats,
  operands: { '[file]': 'the file to write (default: stdout)' },
  description:
    'Writes all stock levels as a CSV to edit and then apply with `petstock inventory apply`: petId, name (if the setting codes is set), status, ' +
    'expected, quantity, reason, ref. Change the quantities, but not `expected`: a row whose stock has changed ' +
    'meanwhile then becomes a conflict instead of being overwritten. With -o json, ndjson or tsv it has that format. Sends one request.',
  options: exportOptions,
  examples: [
    ['petstock inventory export stock.csv --spreadsheet', 'edit it, save it as CSV, then:'],
    ['petstock inventory apply stock.csv'],
  ],
  run: async (invocation, flags, file = '-') => {
    requireHeader(invocation);
    const format = exportFormat(invocation, file, 'csv');
    const delimiter = delimiterOf(invocation, flags, format);
    const { client } = await invocation.connections.connect();
    const stock = scanStock(invocation, client);
    const counts = { pets: 0 };
    const { globals, target } = invocation;
    const { spreadsheet = false, force = false } = flags;
    // The sandbox's own names are included only with `--spreadsheet`, or on a terminal without `-o`.
    const { names } = await invocation.remarks(spreadsheet ? 'person' : undefined);
    const rows = exportRows(stock, names, counts);
    const readOnly = readOnlyColumns(names !== undefined);
    const columns = plainColumns(['petId', ...readOnly, 'expected', 'quantity', 'reason', 'ref']);
    const view: View = { shape: 'list', columns, rows };
    const text =
      format === 'json' || format === 'ndjson'
        ? (await import('../../../output/json-format.ts'))[format](view, globals)
        : changeFileText(rows, { spreadsheet, raw: globals.raw === true, delimiter, names: names !== undefined });
    const words = globals.env === undefined && globals.store === undefined ? [] : targetWords(target);
    const next = petstock`inventory apply ${file === '-' ? '<file>' : fileOperand(file)} ${words}`;
    const done = () =>
      `${counted(counts.pets, 'pet')} written to ${file === '-' ? 'stdout' : file}. Edit the column "quantity", then run: ${next}`;
    await exportTo(invocation, file, text, { force, done });
  },
});

async function* exportRows(batches: ItemBatches, names: PetNames | undefined, counts: { pets: number }) {
  for await (const items of batches) {
    counts.pets += items.length;
    yield items.map((item) => ({ ...item, name: names?.get(item.petId), expected: item.quantity }));
  }
}

function delimiterOf({ context }: Invocation, flags: ExportFlags, format: ChangeFormat): string {
  const { spreadsheet = false, delimiter } = flags;
  if (format === 'json' || format === 'ndjson') {
    if (!spreadsheet && delimiter === undefined) return '';
    throw new UsageError(`--spreadsheet and --delimiter are not for ${format}. Leave them out, or choose CSV`);
  }
  if (delimiter !== undefined) {
    const known = [',', ';', '|', '\t'].find(
      (one) => one === delimiter || (one === '\t' && /^(?:tab|\\t)$/i.test(delimiter)),
    );
    if (known === undefined) throw new UsageError(`--delimiter takes , ; | or tab, not "${delimiter}"`);
    return known;
  }
  if (format === 'tsv') return '\t';
  return spreadsheet && decimalOf(context.env) === ',' ? ';' : ',';
}

/**
 * Returns the decimal separator of this system's language. If it is a comma, a spreadsheet expects semicolons between
 * cells.
 */
function decimalOf({ LC_ALL, LC_NUMERIC, LANG }: Readonly<Record<string, string | undefined>>): string | undefined {
  const [name = ''] = [LC_ALL, LC_NUMERIC, LANG].filter((value) => value !== undefined && value !== '');
  if (/^(?:C|POSIX)(?:\.|$)/.test(name)) return '.';
  const language = name.replace(/[.@].*$/, '').replaceAll('_', '-');
  try {
    const format = new Intl.NumberFormat(language === '' ? undefined : language);
    return format.formatToParts(1.5).find(({ type }) => type === 'decimal')?.value;
  } catch {
    // The name of the locale may be invalid.
    return undefined;
  }
}
