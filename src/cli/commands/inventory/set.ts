import type { Command } from 'commander';
import { ConflictError, UsageError } from '../../../shared/errors.ts';
import { whereOptions } from '../../../shared/where.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { readAndSetStock, type SingleWrite, setStock } from '../../runs/single-write.ts';
import { type BulkFlags, bulkFlags, parseBulkFlags } from '../bulk-flags.ts';
import { examples } from '../command.ts';
import { quantityOf } from '../values.ts';
import { type Assignment, parseAssignments } from './assignments.ts';
import { confirmBelowZero, confirmSet, finishWrite, writeAgreed } from './finish-write.ts';

interface SetOptions extends BulkFlags {
  readonly expect?: string;
  readonly readFirst?: boolean;
  readonly reason?: string;
  readonly ref?: string;
}

export function defineSet(command: Command, run: Run): void {
  command
    .usage('[options] <petId> <quantity>\n       petstock inventory set [options] <petId>=<quantity>…')
    .argument('<petId>', 'the pet, by its id; or petId=quantity, once or several times')
    .argument('[quantity...]', 'the new stock count')
    .description(
      'Sets the stock of one pet and shows what the service answered. Takes one request; two with --expect or --read-first.\n\n' +
        'Several pets, as petId=quantity, are one run in the history, as with `petstock inventory apply`: the stock is read, the plan ' +
        'is shown, and you are asked. That takes one request, and one for each pet that changes. The same goes for one pet with ' +
        '--dry-run or one of the options that follow it.',
    )
    .option('--expect <n>', 'read first, and write only if the stock is n (else exit 7)')
    .option('--read-first', 'read first, show before and after, and make it possible to take back (setting read-first)')
    .option('--reason <text>', 'why, for the history')
    .option('--ref <text>', 'a number or name of your own, such as a delivery note, for the history');
  bulkFlags(command)
    .addHelpText(
      'after',
      examples([
        ['petstock inventory set 4 12'],
        ['petstock inventory set 4 9 --expect 12', 'only if it has not been changed since'],
        ['petstock inventory set 4 0 --reason "sold at the fair" --ref T-1009'],
        ['petstock inventory set 4=12 5=9', 'several, as one run'],
      ]),
    )
    .action(
      run<SetOptions>(async (invocation, options, ...operands) => {
        const [first, ...others] = parseAssignments(operands);
        if (others.length > 0 || isPlanned(options)) await setSeveral(invocation, [first, ...others], options);
        else await setOne(invocation, first, options);
      }),
    );
}

/** Whether an option is given that a plan has, and a single write has not. */
function isPlanned({ dryRun, exitCode, failFast, concurrency, maxChanges, maxZero }: BulkFlags): boolean {
  return [dryRun, exitCode, failFast, concurrency, maxChanges, maxZero].some((flag) => flag !== undefined);
}

async function setSeveral(
  invocation: Invocation,
  assignments: readonly Assignment[],
  options: SetOptions,
): Promise<void> {
  const expected = quantityOf(options.expect, '--expect');
  if (expected !== undefined && assignments.length > 1) {
    throw new UsageError('--expect is about one pet: leave it out, or name what is expected of each pet in a file', {
      hint: 'petstock inventory apply --help',
    });
  }
  const { reason, ref } = options;
  const bulk = parseBulkFlags(invocation, options);
  const { runSet } = await import('./set-run.ts');
  const changes = assignments.map((assignment, index) => ({
    ...assignment,
    line: index + 1,
    delta: undefined,
    expected,
    reason,
    ref,
  }));
  await runSet(invocation, changes, bulk);
}

async function setOne(invocation: Invocation, { petId, quantity }: Assignment, options: SetOptions): Promise<void> {
  const expected = quantityOf(options.expect, '--expect');
  const readsFirst = options.readFirst ?? invocation.config.settings['read-first'] === 'always';
  const { reason, ref } = options;
  const write: SingleWrite = { command: 'inventory set', petId, reason, ref };
  const connection = await invocation.service.beginWrite(undefined);
  if (expected === undefined && !readsFirst) {
    if (invocation.config.settings.confirm === 'always') await confirmSet(invocation, connection, petId, quantity);
    else await confirmBelowZero(invocation, petId, quantity);
    await finishWrite(invocation, write, await setStock(invocation, connection, write, quantity));
    return;
  }
  const target = (stock: number): number => {
    if (expected !== undefined && stock !== expected) throw unexpected(invocation, petId, stock, expected);
    return quantity;
  };
  const written = await writeAgreed(invocation, petId, target, (agreed) =>
    readAndSetStock(invocation, connection, write, agreed),
  );
  await finishWrite(invocation, write, readsFirst ? written : { ...written, before: undefined });
}

function unexpected({ where }: Invocation, petId: bigint, stock: number, expected: number): ConflictError {
  return new ConflictError(`The stock of pet ${petId} is ${stock}, not ${expected}; nothing was written`, {
    hint: `petstock inventory get ${petId} ${whereOptions(where)}`,
  });
}
