import type { Command } from 'commander';
import { configFile } from '../../../settings/config-file.ts';
import { maskKey } from '../../../settings/keys.ts';
import { keySource } from '../../../settings/resolve.ts';
import { unsetKey } from '../../../settings/write-config.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { remoteEnvironment } from './remote.ts';

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
  const { context, config, environment } = invocation;
  const name = remoteEnvironment(environment.value, 'key');
  const stored = config.keys[name];
  const file = configFile(context.folders.config);
  if (stored === undefined) {
    await invocation.messages.note(`No key of ${name} is stored in ${file}`);
  } else {
    await unsetKey(context.folders.config, name);
    await invocation.messages.note(`Removed the key ${maskKey(stored)} of ${name} from ${file}`);
  }
  const source = keySource(name, context.env);
  if (source !== undefined) await invocation.messages.warn(`${source} is set, so ${name} still has a key`);
}
