import type { Command } from 'commander';
import { inventoryItemView } from '../../../output/inventory-view.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { petIdOf } from '../values.ts';
import { findItem, lowStockOf } from './stock.ts';

export function defineGet(command: Command, run: Run): void {
  command
    .argument('<petId>', 'the pet, by its id')
    .description('Shows the stock level of one pet. Takes one request.')
    .addHelpText('after', examples([['petstock inventory get 4'], ['petstock inventory get 4 --json']]))
    .action(
      run(async (invocation, _options, petIdText) => {
        const petId = petIdOf(petIdText);
        const { client } = await invocation.service.connect();
        const item = await findItem(invocation, client, petId);
        await invocation.results.print(inventoryItemView(item, { lowStock: lowStockOf(invocation) }));
      }),
    );
}
