import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { changeFileText, type ExportRow } from '../../../change-files/change-file-text.ts';
import type { ItemBatches } from '../../../inventory/items.ts';
import { writeFileAtomically } from '../../../shared/atomic-file.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { requireCsvName } from './csv-name.ts';
import { readStock } from './stock.ts';

interface ExportOptions {
  readonly spreadsheet?: boolean;
}

export function defineExport(command: Command, run: Run): void {
  command
    .argument('[file]', 'where to write it; without one, stdout')
    .description(
      'Writes all stock levels as a CSV to edit and hand back to `petstock inventory apply`: petId, status, expected, ' +
        'quantity, reason, ref. Change the quantities; leave `expected` as it is, so that a row whose stock has changed ' +
        'meanwhile is told rather than overwritten. Takes one request.',
    )
    .option('--spreadsheet', 'write ids as ="…", so that a spreadsheet keeps every digit')
    .addHelpText(
      'after',
      examples([
        ['petstock inventory export stock.csv --spreadsheet', 'edit it, save it as CSV, then:'],
        ['petstock inventory apply stock.csv'],
      ]),
    )
    .action(
      run<ExportOptions>(async (invocation, { spreadsheet = false }, file?: string) => {
        if (file !== undefined) requireCsvName(file, 'export');
        const { client } = await invocation.service.connect();
        const text = changeFileText(exportRows(readStock(invocation, client)), { spreadsheet });
        if (file === undefined || file === '-') {
          for await (const piece of text) await invocation.results.write(piece);
        } else {
          await confirmReplacing(invocation, file);
          await writeFileAtomically(file, text);
          await invocation.messages.note(`Written to ${file}.`);
        }
      }),
    );
}

/** A file that was edited may be hours of work. In a script the name was chosen with care. */
async function confirmReplacing({ context, globals }: Invocation, file: string): Promise<void> {
  if (globals.yes || !existsSync(file) || !context.stdin.isTerminal || !context.stderr.isTerminal) return;
  if (!(await context.prompts.confirm(`${file} is there already. Replace it?`))) {
    throw new UsageError(`Not confirmed; ${file} is as it was`);
  }
}

async function* exportRows(batches: ItemBatches): AsyncGenerator<readonly ExportRow[]> {
  for await (const batch of batches) {
    yield batch.map(({ petId, status, quantity }) => ({ petId, status, expected: quantity, quantity }));
  }
}
