import type { Command } from 'commander';
import { NotFoundError } from '../../../shared/errors.ts';
import { whereName } from '../../../shared/where.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { printPayload } from '../payload.ts';
import { petIdOf } from '../values.ts';

export function defineGet(command: Command, run: Run): void {
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
