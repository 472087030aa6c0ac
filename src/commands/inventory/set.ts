import type { Command } from 'commander';
import { ConflictError } from '../../errors.ts';
import { parseQuantity } from '../../inventory/values.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { petIdOf, quantityOf, required } from '../values.ts';
import { findItem } from './stock.ts';
import { printWritten, writeStock } from './write.ts';

interface SetOptions {
  readonly expect?: string;
  readonly reason?: string;
  readonly ref?: string;
}

export function registerSet(inventory: Command, run: Run): void {
  inventory
    .command('set')
    .argument('<petId>', 'the pet, by its id')
    .argument('<quantity>', 'the new stock count')
    .summary('set the stock of one pet')
    .description('Sets the stock of one pet and shows what the service answered. Takes one request, two with --expect.')
    .option('--expect <n>', 'look first, and write only if the stock is n (else exit 7)')
    .option('--reason <text>', 'why, for the history on this machine')
    .option('--ref <text>', 'a number or name of your own, such as a delivery note, for the history')
    .addHelpText(
      'after',
      examples([
        ['petstock inventory set 42 12'],
        ['petstock inventory set 42 12 --expect 7', 'only if nobody has changed it since'],
        ['petstock inventory set 42 0 --reason "sold at the fair" --ref T-1009'],
      ]),
    )
    .action(
      run<SetOptions>(async (invocation, options, petIdText, quantityText) => {
        const petId = petIdOf(petIdText);
        const quantity = required(parseQuantity(quantityText));
        const expected = quantityOf(options.expect, '--expect');
        let before: number | undefined;
        if (expected !== undefined) {
          const { client } = await invocation.connect();
          before = (await findItem(invocation, client, petId)).quantity;
          if (before !== expected) {
            throw new ConflictError(`The stock of pet ${petId} is ${before}, not ${expected}; nothing was written`, {
              hint: `petstock inventory get ${petId} --env ${invocation.environment.value}`,
            });
          }
        }
        const { reason, ref } = options;
        const item = await writeStock(invocation, { command: 'inventory set', petId, before, quantity, reason, ref });
        await printWritten(invocation, item);
      }),
    );
}
