import type { Action } from '../../invocation/invocation.ts';
import { define, type OptionRow } from '../command.ts';
import { bulkOptions } from '../values.ts';
import type { Verb, WriteFlags } from './write-pets.ts';

/** What `set` and `adjust` have in common. */
const writeOptions: readonly OptionRow[] = [
  ['--code <bar code>', 'the pet by its bar code instead of its id (setting codes)'],
  ['--reason <text>', 'why, for the history'],
  ['--ref <text>', 'a number or name of your own, such as a delivery note, for the history'],
  ...bulkOptions,
];

export const defineSet = define({
  usage: '[options] <petId> <quantity>\n       petstock inventory set [options] <petId>=<quantity>…',
  operands: {
    '<petId>': 'the pet, by its id; or petId=quantity, once or several times',
    '[quantity...]': 'the new stock count',
  },
  description:
    'Sets the stock of one pet and shows what the service answered. Takes one request; two if it reads first: at a terminal, and with ' +
    '--expect or --read-first.\n\n' +
    'Several pets, as petId=quantity, are one run in the history, as with `petstock inventory apply`: the stock is read, the plan ' +
    'is shown, and you are asked. That takes one request, and one for each pet that changes. The same goes for one pet with ' +
    '--dry-run or one of the options that follow it.',
  options: [
    ['--expect <n>', 'read first, and write only if the stock is n (else exit 7)'],
    ['--read-first', 'read first, show before and after, so that it can be taken back (setting read-first)'],
    ['--no-read-first', 'send one request, also at a terminal'],
    ...writeOptions,
  ],
  examples: [
    ['petstock inventory set 4 12'],
    ['petstock inventory set 4 9 --expect 12', 'only if it has not been changed since'],
    ['petstock inventory set 4 0 --reason "sold at the fair" --ref T-1009'],
    ['petstock inventory set 4=12 5=9', 'several, as one run'],
  ],
  action: writing('set'),
});

export const defineAdjust = define({
  usage: '[options] <petId> <delta>\n       petstock inventory adjust [options] <petId>=<delta>…',
  operands: {
    '<petId>': 'the pet, by its id; or petId=delta, once or several times',
    '[delta...]': 'how many more or fewer: +5, 5 or -2',
  },
  description:
    'Reads the stock of one pet, adds the delta to it, sets the sum, and shows before and after. Takes two requests. ' +
    'Commands that share the state take turns, and all of them count; but the service can only set, so what is written ' +
    'elsewhere between the two is overwritten.\n\n' +
    'Several pets, as petId=delta, are one run in the history, as with `petstock inventory apply`. The same goes for one pet ' +
    'with --dry-run or one of the options that follow it.',
  options: [['--expect <n>', 'write only if the stock is n (else exit 7)'], ...writeOptions],
  examples: [
    ['petstock inventory adjust 4 +5', 'five have arrived'],
    ['petstock inventory adjust 4 -2 --reason "returned to breeder"'],
    ['petstock inventory adjust 4=+1 6=-2', 'several, as one run'],
  ],
  action: writing('adjust'),
});

function writing(verb: Verb): Action<WriteFlags> {
  return async (invocation, options, ...operands) => {
    const { writePets } = await import('./write-pets.ts');
    await writePets(invocation, verb, options, operands);
  };
}
