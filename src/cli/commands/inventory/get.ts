import type { Command } from 'commander';
import { inventoryItemView, inventoryListView } from '../../../output/inventory-view.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { petIdOf } from '../values.ts';
import { findItems, lowStockOf, requireWhole } from './stock.ts';
import { UnreadablePets } from './unreadable-pets.ts';

export function defineGet(command: Command, run: Run): void {
  command
    .argument('<petId...>', 'the pets, by their ids')
    .description(
      'Shows the stock level of one pet, or of several in the order asked. Takes one request. Exit 9 where one of them is not ' +
        'in the list, after the others. JSON is an object for one pet, and an array for several.',
    )
    .addHelpText(
      'after',
      examples([['petstock inventory get 4'], ['petstock inventory get 4 5 8'], ['petstock inventory get 4 --json']]),
    )
    .action(
      run(async (invocation, _options, ...texts) => {
        const petIds = texts.map(petIdOf);
        const { client } = await invocation.service.connect();
        const asked = new Set(petIds);
        const unreadable = new UnreadablePets();
        const items = await findItems(invocation, client, asked, unreadable);
        const found = petIds.flatMap((petId) => items.get(petId) ?? []);
        const options = { lowStock: lowStockOf(invocation) };
        const [first] = found;
        if (petIds.length > 1) {
          await invocation.results.print(inventoryListView([found], options), { sayWhenEmpty: false });
        } else if (first !== undefined) {
          await invocation.results.print(inventoryItemView(first, options));
        }
        const error = unreadable.error(invocation.where, ({ petId }) => asked.has(petId));
        const missing = [...asked].filter((petId) => !items.has(petId) && !unreadable.has(petId));
        requireWhole(invocation, error, missing);
      }),
    );
}
