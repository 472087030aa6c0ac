import type { Command } from 'commander';
import { jsonWriter } from '../../output/json.ts';
import { payloadView } from '../../output/payload-view.ts';
import { NotFoundError } from '../../shared/errors.ts';
import type { Json } from '../../shared/json.ts';
import { whereName } from '../../shared/where.ts';
import type { Invocation, Run } from '../invocation/invocation.ts';
import { examples, fieldsOption } from './command.ts';
import { petIdOf } from './values.ts';

export function definePetsGet(command: Command, run: Run): void {
  command
    .argument('<petId>', 'the pet, by its id')
    .description('Shows the record of one pet, as the service sends it. Deprecated by the service. Takes one request.')
    .addHelpText('after', examples([['petstock pets get 4'], ['petstock pets get 4 --json']]))
    .action(
      run(async (invocation, _options, petIdText) => {
        const petId = petIdOf(petIdText);
        const { client } = await invocation.service.connectToRead();
        const { value, headers } = await client.getPet(petId).catch((error) => {
          if (!(error instanceof NotFoundError && error.service)) throw error;
          const { status, service } = error;
          const message = `There is no pet ${petId} in ${whereName(invocation.where)}`;
          throw new NotFoundError(message, { status, service, cause: error });
        });
        const goesAway = typeof headers.sunset === 'string' ? Date.parse(headers.sunset) : Number.NaN;
        const sunset = Number.isNaN(goesAway) ? '' : ` and goes away on ${new Date(goesAway).toUTCString()}`;
        await invocation.messages.warn(`GET /pets/{petId} is deprecated by the service${sunset}`);
        await printPayload(invocation, value);
      }),
    );
}

export function defineOrdersList(command: Command, run: Run): void {
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

/** Prints an answer of unspecified shape: in columns where it has them, else as JSON. */
async function printPayload(invocation: Invocation, value: Json): Promise<void> {
  const view = payloadView(value);
  if (view !== undefined) return await invocation.results.print(view);
  const text = jsonWriter(invocation.globals.stringIds === true)(value);
  await invocation.results.quote(text);
}
