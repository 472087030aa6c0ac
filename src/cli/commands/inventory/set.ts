import type { Command } from 'commander';
import { parseQuantity } from '../../../inventory/values.ts';
import { ConflictError } from '../../../shared/errors.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { readAndSetStock, type SingleWrite, setStock } from '../../runs/single-write.ts';
import { examples } from '../command.ts';
import { petIdOf, quantityOf, required } from '../values.ts';
import { confirmBelowZero, confirmSet, finishWrite, writeAgreed } from './finish-write.ts';

interface SetOptions {
  readonly expect?: string;
  readonly readFirst?: boolean;
  readonly reason?: string;
  readonly ref?: string;
}

export function defineSet(command: Command, run: Run): void {
  command
    .argument('<petId>', 'the pet, by its id')
    .argument('<quantity>', 'the new stock count')
    .description(
      'Sets the stock of one pet and shows what the service answered. Takes one request; two with --expect or --read-first.',
    )
    .option('--expect <n>', 'read first, and write only if the stock is n (else exit 7)')
    .option('--read-first', 'read first, show before and after, and make it possible to take back (setting read-first)')
    .option('--reason <text>', 'why, for the history')
    .option('--ref <text>', 'a number or name of your own, such as a delivery note, for the history')
    .addHelpText(
      'after',
      examples([
        ['petstock inventory set 4 12'],
        ['petstock inventory set 4 9 --expect 12', 'only if it has not been changed since'],
        ['petstock inventory set 4 0 --reason "sold at the fair" --ref T-1009'],
      ]),
    )
    .action(
      run<SetOptions>(async (invocation, options, petIdText, quantityText) => {
        const petId = petIdOf(petIdText);
        const quantity = required(parseQuantity(quantityText));
        const expected = quantityOf(options.expect, '--expect');
        const readsFirst = options.readFirst ?? invocation.config.settings['read-first'] === true;
        const { reason, ref } = options;
        const write: SingleWrite = { command: 'inventory set', petId, reason, ref };
        if (expected === undefined && !readsFirst) {
          const connection = await invocation.service.beginWrite(undefined);
          if (invocation.config.settings.confirm === 'always')
            await confirmSet(invocation, connection, petId, quantity);
          else await confirmBelowZero(invocation, petId, quantity);
          await finishWrite(invocation, write, await setStock(invocation, connection, write, quantity));
          return;
        }
        const connection = await invocation.service.beginWrite(undefined);
        const target = (stock: number): number => {
          if (expected !== undefined && stock !== expected) throw unexpected(invocation, petId, stock, expected);
          return quantity;
        };
        const written = await writeAgreed(invocation, petId, target, (agreed) =>
          readAndSetStock(invocation, connection, write, agreed),
        );
        await finishWrite(invocation, write, readsFirst ? written : { ...written, before: undefined });
      }),
    );
}

function unexpected({ environment }: Invocation, petId: bigint, stock: number, expected: number): ConflictError {
  return new ConflictError(`The stock of pet ${petId} is ${stock}, not ${expected}; nothing was written`, {
    hint: `petstock inventory get ${petId} --env ${environment.value}`,
  });
}
