import type { Command } from 'commander';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { defaultPort } from './sandbox-options.ts';

export function defineOpenApi(command: Command, run: Run): void {
  command
    .description('Prints the contract of the service as an OpenAPI 3.1 document in JSON. Nothing is started.')
    .addHelpText('after', examples([['petstock sandbox openapi > openapi.json']]))
    .action(
      run(async (invocation) => {
        const { openApiDocument } = await import('../../../service/index.ts');
        const document = openApiDocument(`http://127.0.0.1:${defaultPort}/v1`);
        await invocation.results.write(`${JSON.stringify(document, null, 2)}\n`);
      }),
    );
}
