import type { Command } from 'commander';
import { configFile } from '../../../settings/config-file.ts';
import { describeUrlShadow } from '../../../settings/resolve.ts';
import { setUrl } from '../../../settings/write-config.ts';
import { whereName } from '../../../shared/where.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { remotePlace, requireBaseUrl } from './remote.ts';

const help = examples([
  ['petstock config set-url https://stock.example.com/v1 --env production'],
  ['petstock config set-url http://127.0.0.1:4010/v1 --env staging', 'http: on this machine only'],
  ['petstock config set-url https://north.example.com/v1 --store north -e production', 'of one of several stores'],
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
  const place = remotePlace(invocation, 'URL');
  const { folder, store, environment } = place;
  const url = requireBaseUrl(text, place);
  await setUrl(place, url);
  const where = whereName({ store, env: environment });
  await invocation.messages.note(`Stored the URL ${url} of ${where} in ${configFile(folder)}`);
  const shadow = describeUrlShadow(environment, invocation.context.env, store);
  if (shadow !== undefined) await invocation.messages.warn(shadow);
}
