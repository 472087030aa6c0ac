import type { Command } from 'commander';
import type { Store } from '../../../service/index.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { exportTo, forceOption } from '../replace-file.ts';
import { oneOf, requireFileName } from '../values.ts';
import { chosenStore, type StoreChoice, withStore, withStoreOptions } from './store-access.ts';

const formats = ['csv', 'json'] as const;

interface ExportOptions extends StoreChoice {
  readonly format?: string;
  readonly force?: boolean;
}

export function defineExport(command: Command, run: Run): void {
  withStoreOptions(command)
    .argument('[file]', 'where to write it; without one, stdout')
    .description('Writes the stock in a form that `petstock sandbox import` reads. Takes no request.')
    .option(
      '--format <format>',
      'csv, or json, which has records of pets and orders too (default: by the name of the file, else csv)',
    )
    .option(...forceOption)
    .addHelpText('after', examples([['petstock sandbox export stock.csv'], ['petstock sandbox export shop.json']]))
    .action(
      run<ExportOptions>(async (invocation, { format, force = false, ...choice }, file?: string) => {
        if (file !== undefined) requireFileName(file, 'sandbox export');
        const isJson =
          format === undefined
            ? file?.toLowerCase().endsWith('.json') === true
            : oneOf('--format', format, formats) === 'json';
        await withStore(invocation, chosenStore(invocation, choice), async (store) => {
          const text = isJson ? jsonOf(store) : csvOf(store);
          if (file === undefined || file === '-') {
            for await (const piece of text) await invocation.results.write(piece);
          } else {
            await exportTo(invocation, file, text, { force });
          }
          const [orders, records] = [await store.orders(), await store.records()];
          if (!isJson && orders.length + records.length > 0) {
            await invocation.messages.warn('Orders and records of pets are left out of CSV; --format json has them.');
          }
        });
      }),
    );
}

async function* csvOf(store: Store): AsyncGenerator<string> {
  yield 'petId,quantity,status\r\n';
  for await (const page of store.inventory()) {
    yield page.replace(/\{"petId":(-?\d+),"quantity":(-?\d+),"status":"(\w+)"\},?/g, '$1,$2,$3\r\n');
  }
}

async function* jsonOf(store: Store): AsyncGenerator<string> {
  let separator = '{"inventory":[\n';
  for await (const page of store.inventory()) {
    yield `${separator}${page.replaceAll('},{', '},\n{')}`;
    separator = ',\n';
  }
  if (separator.startsWith('{')) yield separator;
  yield `],\n"pets":[${(await store.records()).join(',\n')}],\n"orders":[${(await store.orders()).join(',\n')}]}\n`;
}
