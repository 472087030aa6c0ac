import type { Command } from 'commander';
import { addDelta, parseDelta } from '../../../inventory/values.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { petIdOf, required } from '../values.ts';
import { inTurn } from './in-turn.ts';
import { findItem } from './stock.ts';
import { printWritten, writeStock } from './write.ts';

interface AdjustOptions {
  readonly reason?: string;
  readonly ref?: string;
}

export function defineAdjust(command: Command, run: Run): void {
  command
    .argument('<petId>', 'the pet, by its id')
    .argument('<delta>', 'how many more or fewer: +5, 5 or -2')
    .description(
      'Reads the stock of one pet, adds the delta to it once, sets the result, and shows before and after. ' +
        'Takes two requests. Commands on this machine wait for one another; but the service can only set, so what another ' +
        'machine writes between the two is overwritten.',
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
        const change = delta < 0 ? `Take ${-delta} from` : `Add ${delta} to`;
        const connection = await invocation.beginWrite(`${change} the stock of pet ${petId}?`);
        const command = 'inventory adjust';
        const { item, before } = await inTurn(invocation, connection, petId, async () => {
          const { quantity: before } = await findItem(invocation, connection.client, petId);
          const quantity = required(addDelta(before, delta));
          const write = { command, petId, before, quantity, reason, ref };
          return { before, item: await writeStock(invocation, connection, write) };
        });
        await printWritten(invocation, item, before);
      }),
    );
}
