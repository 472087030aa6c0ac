import type { Command } from 'commander';
import { addDelta, parseDelta } from '../../inventory/values.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { petIdOf, required } from '../values.ts';
import { findItem } from './stock.ts';
import { printWritten, writeStock } from './write.ts';

interface AdjustOptions {
  readonly reason?: string;
  readonly ref?: string;
}

export function registerAdjust(inventory: Command, run: Run): void {
  inventory
    .command('adjust')
    .argument('<petId>', 'the pet, by its id')
    .argument('<delta>', 'how many more or fewer: +5, 5 or -2')
    .summary('add to the stock of one pet, or take from it')
    .description(
      'Reads the stock of one pet, adds the delta to it once, sets the result, and shows before and after. ' +
        'Takes two requests. The service can only set: a sale between the two is overwritten.',
    )
    .option('--reason <text>', 'why, for the history on this machine')
    .option('--ref <text>', 'a number or name of your own, such as a delivery note, for the history')
    .addHelpText(
      'after',
      examples([
        ['petstock inventory adjust 42 +5', 'five have arrived'],
        ['petstock inventory adjust 42 -2 --reason "returned to breeder"'],
      ]),
    )
    .action(
      run<AdjustOptions>(async (invocation, { reason, ref }, petIdText, deltaText) => {
        const petId = petIdOf(petIdText);
        const delta = required(parseDelta(deltaText));
        const { client } = await invocation.connect();
        const before = (await findItem(invocation, client, petId)).quantity;
        const quantity = required(addDelta(before, delta));
        const item = await writeStock(invocation, {
          command: 'inventory adjust',
          petId,
          before,
          quantity,
          reason,
          ref,
        });
        await printWritten(invocation, item, before);
      }),
    );
}
