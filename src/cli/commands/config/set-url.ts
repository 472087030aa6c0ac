import type { Command } from 'commander';
import { configFile } from '../../../settings/config-file.ts';
import { describeUrlShadow } from '../../../settings/resolve.ts';
import { setUrl } from '../../../settings/write-config.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { remoteEnvironment, requireBaseUrl } from './remote.ts';

const help = examples([
  ['petstock config set-url https://stock.example.com/v1 --env production'],
  ['petstock config set-url http://127.0.0.1:4010/v1 --env staging', 'http: on this machine only'],
  ['petstock config unset url --env staging', 'takes it back'],
]);

export function defineSetUrl(command: Command, run: Run): void {
  command
    .argument('<url>', 'the address of the service, up to and including /v1')
    .description(
      'Stores where the service of one environment is. Nothing is sent there yet: petstock status tries it. ' +
        'A stored key belongs to the origin that it was stored for: another origin takes set-key --url.',
    )
    .addHelpText('after', help)
    .action(run((invocation, _options, url) => storeUrl(invocation, url)));
}

async function storeUrl(invocation: Invocation, text: string): Promise<void> {
  const { context, environment } = invocation;
  const name = remoteEnvironment(environment.value, 'URL');
  const url = requireBaseUrl(text, name);
  await setUrl(context.folders.config, name, url);
  await invocation.messages.note(`Stored the URL ${url} of ${name} in ${configFile(context.folders.config)}`);
  const shadow = describeUrlShadow(name, context.env);
  if (shadow !== undefined) await invocation.messages.warn(shadow);
}
