import type { Command } from 'commander';
import { changeFileText, type ExportRow } from '../../../change-files/change-file-text.ts';
import type { ItemBatches } from '../../../inventory/items.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { exportTo, forceOption } from '../replace-file.ts';
import { requireCsvName } from './csv-name.ts';
import { readStock } from './stock.ts';
import { UnreadablePets } from './unreadable-pets.ts';

interface ExportOptions {
  readonly spreadsheet?: boolean;
  readonly force?: boolean;
}

export function defineExport(command: Command, run: Run): void {
  command
    .argument('[file]', 'where to write it; without one, stdout')
    .description(
      'Writes all stock levels as a CSV to edit and hand back to `petstock inventory apply`: petId, status, expected, ' +
        'quantity, reason, ref. Change the quantities; leave `expected` as it is, so that a row whose stock has changed ' +
        'meanwhile becomes a conflict and is not overwritten. Takes one request.',
    )
    .option('--spreadsheet', 'write ids as ="…", so that a spreadsheet keeps every digit')
    .option(...forceOption)
    .addHelpText(
      'after',
      examples([
        ['petstock inventory export stock.csv --spreadsheet', 'edit it, save it as CSV, then:'],
        ['petstock inventory apply stock.csv'],
      ]),
    )
    .action(
      run<ExportOptions>(async (invocation, { spreadsheet = false, force = false }, file?: string) => {
        if (file !== undefined) requireCsvName(file, 'export');
        const { client } = await invocation.service.connect();
        const unreadable = new UnreadablePets();
        const text = changeFileText(exportRows(readStock(invocation, client, unreadable)), { spreadsheet });
        if (file === undefined || file === '-') {
          for await (const piece of text) await invocation.results.write(piece);
        } else {
          await exportTo(invocation, file, text, { force });
        }
        const error = unreadable.error(invocation.where);
        if (error) throw error;
      }),
    );
}

async function* exportRows(batches: ItemBatches): AsyncGenerator<readonly ExportRow[]> {
  for await (const batch of batches) {
    yield batch.map(({ petId, status, quantity }) => ({ petId, status, expected: quantity, quantity }));
  }
}
