import type { Command } from 'commander';
import type { Run } from '../../invocation/invocation.ts';
import { bulkFlags } from '../bulk-flags.ts';
import { examples } from '../command.ts';
import type { WriteFlags } from './write-pets.ts';

export function defineAdjust(command: Command, run: Run): void {
  command
    .usage('[options] <petId> <delta>\n       petstock inventory adjust [options] <petId>=<delta>…')
    .argument('<petId>', 'the pet, by its id; or petId=delta, once or several times')
    .argument('[delta...]', 'how many more or fewer: +5, 5 or -2')
    .description(
      'Reads the stock of one pet, adds the delta to it, sets the sum, and shows before and after. Takes two requests. ' +
        'Commands that share the state take turns, and all of them count; but the service can only set, so what is written ' +
        'elsewhere between the two is overwritten.\n\n' +
        'Several pets, as petId=delta, are one run in the history, as with `petstock inventory apply`. The same goes for one pet ' +
        'with --dry-run or one of the options that follow it.',
    )
    .option('--expect <n>', 'write only if the stock is n (else exit 7)')
    .option('--code <bar code>', 'the pet by its bar code instead of its id (setting codes)')
    .option('--reason <text>', 'why, for the history')
    .option('--ref <text>', 'a number or name of your own, such as a delivery note, for the history');
  bulkFlags(command)
    .addHelpText(
      'after',
      examples([
        ['petstock inventory adjust 4 +5', 'five have arrived'],
        ['petstock inventory adjust 4 -2 --reason "returned to breeder"'],
        ['petstock inventory adjust 4=+1 6=-2', 'several, as one run'],
      ]),
    )
    .action(
      run<WriteFlags>(async (invocation, options, ...operands) => {
        const { writePets } = await import('./write-pets.ts');
        await writePets(invocation, 'adjust', options, operands);
      }),
    );
}
