import type { Command } from 'commander';
import { parseQuantity } from '../../../inventory/values.ts';
import { ConflictError } from '../../../shared/errors.ts';
import type { Connection } from '../../invocation/connect.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { petIdOf, quantityOf, required } from '../values.ts';
import { inTurn } from './in-turn.ts';
import { findItem } from './stock.ts';
import { printWritten, writeStock } from './write.ts';

interface SetOptions {
  readonly expect?: string;
  readonly reason?: string;
  readonly ref?: string;
}

export function defineSet(command: Command, run: Run): void {
  command
    .argument('<petId>', 'the pet, by its id')
    .argument('<quantity>', 'the new stock count')
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
        const { reason, ref } = options;
        const connection = await invocation.beginWrite(`Set the stock of pet ${petId} to ${quantity}?`);
        const command = 'inventory set';
        const item = await inTurn(invocation, connection, petId, async () => {
          if (expected !== undefined) await expectStock(invocation, connection, petId, expected);
          return writeStock(invocation, connection, { command, petId, before: expected, quantity, reason, ref });
        });
        await printWritten(invocation, item);
      }),
    );
}

/** @throws ConflictError where the stock is another */
async function expectStock(
  invocation: Invocation,
  { client }: Connection,
  petId: bigint,
  expected: number,
): Promise<void> {
  const { quantity } = await findItem(invocation, client, petId);
  if (quantity === expected) return;
  throw new ConflictError(`The stock of pet ${petId} is ${quantity}, not ${expected}; nothing was written`, {
    hint: `petstock inventory get ${petId} --env ${invocation.environment.value}`,
  });
}
