import type { Command } from 'commander';
import type { Run } from '../invocation/invocation.ts';
import { examples } from './command.ts';
import { printPayload } from './payload.ts';

export function registerOrders(program: Command, run: Run): void {
  const orders = program.command('orders').summary('look at store orders').description('Looks at store orders.');
  orders
    .command('list')
    .summary('list the store orders')
    .description('Lists the store orders, as the service sends them. Takes one request.')
    .addHelpText('after', examples([['petstock orders list'], ['petstock orders list --json']]))
    .action(
      run(async (invocation) => {
        const { client } = await invocation.connect();
        const { value } = await client.listOrders();
        await printPayload(invocation, value);
      }),
    );
}
