import type { Command } from 'commander';
import { addDelta, parseDelta } from '../../../inventory/values.ts';
import type { Run } from '../../invocation/invocation.ts';
import { readAndSetStock } from '../../runs/single-write.ts';
import { examples } from '../command.ts';
import { petIdOf, required } from '../values.ts';
import { finishWrite, writeAgreed } from './finish-write.ts';

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
        'Takes two requests. Commands that share the state take turns; but the service can only set, so what is written ' +
        'elsewhere between the two is overwritten.',
    )
    .option('--reason <text>', 'why, for the history')
    .option('--ref <text>', 'a number or name of your own, such as a delivery note, for the history')
    .addHelpText(
      'after',
      examples([
        ['petstock inventory adjust 4 +5', 'five have arrived'],
        ['petstock inventory adjust 4 -2 --reason "returned to breeder"'],
      ]),
    )
    .action(
      run<AdjustOptions>(async (invocation, { reason, ref }, petIdText, deltaText) => {
        const petId = petIdOf(petIdText);
        const delta = required(parseDelta(deltaText));
        const write = { command: 'inventory adjust', petId, reason, ref };
        const connection = await invocation.service.beginWrite(undefined);
        const target = (stock: number): number => required(addDelta(stock, delta));
        const written = await writeAgreed(invocation, petId, target, (agreed) =>
          readAndSetStock(invocation, connection, write, agreed),
        );
        await finishWrite(invocation, write, written);
      }),
    );
}
