import type { Command } from 'commander';
import { configFile } from '../../../settings/config-file.ts';
import { maskKey } from '../../../settings/keys.ts';
import { keySource } from '../../../settings/resolve.ts';
import { unsetKey } from '../../../settings/write-config.ts';
import { whereName } from '../../../shared/where.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { remotePlace } from './remote.ts';

const help = examples([['petstock config unset-key --env production']]);

export function defineUnsetKey(command: Command, run: Run): void {
  command
    .description(
      'Removes the stored API key of one environment from this machine. The key itself stays valid at the service.',
    )
    .addHelpText('after', help)
    .action(run(forgetKey));
}

async function forgetKey(invocation: Invocation): Promise<void> {
  const { context, config } = invocation;
  const place = remotePlace(invocation, 'key');
  const { store, environment } = place;
  const where = whereName({ store, env: environment });
  const [key, command] = [config.keys[environment], config.keyCommands?.[environment]];
  const file = configFile(place.folder);
  if (key === undefined && command === undefined) {
    await invocation.messages.note(`No key of ${where} is stored in ${file}`);
  } else {
    await unsetKey(place);
    const what = command === undefined ? `the key ${maskKey(key ?? '')}` : 'the key command';
    await invocation.messages.note(`Removed ${what} of ${where} from ${file}`);
  }
  const source = keySource(environment, context.env, store);
  if (source !== undefined) await invocation.messages.warn(`${source} is set, so ${where} still has a key`);
}
