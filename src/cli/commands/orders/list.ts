import type { Command } from 'commander';
import type { Run } from '../../invocation/invocation.ts';
import { examples, fieldsOption } from '../command.ts';
import { printPayload } from '../payload.ts';

export function defineList(command: Command, run: Run): void {
  command
    .description('Lists the store orders, as the service sends them. Takes one request.')
    .option(...fieldsOption)
    .addHelpText('after', examples([['petstock orders list'], ['petstock orders list --json']]))
    .action(
      run(async (invocation) => {
        const { client } = await invocation.service.connectToRead();
        const { value } = await client.listOrders();
        await printPayload(invocation, value);
      }),
    );
}
