import type { Command } from 'commander';
import { configFile } from '../../../settings/config-file.ts';
import { type SettingName, type SettingValue, settingDefinitions, settingName } from '../../../settings/names.ts';
import { variable } from '../../../settings/variables.ts';
import { setSetting } from '../../../settings/write-config.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { settingsHelp } from './settings-help.ts';

const shown = examples([
  ['petstock config set default-env production'],
  ['petstock config set confirm always'],
  ['petstock config set max-zero 10'],
]);

const help = `${shown}

Keys and URLs have commands of their own: petstock config set-key, petstock config set-url.`;

export function defineSet(command: Command, run: Run): void {
  command
    .argument('<name>', 'the setting')
    .argument('<value>', 'its value')
    .description('Changes a setting of petstock on this machine.')
    .addHelpText('after', `${settingsHelp()}${help}`)
    .action(run((invocation, _options, name, value) => storeSetting(invocation, name, value)));
}

async function storeSetting(invocation: Invocation, name: string, text: string): Promise<void> {
  const { context, environment } = invocation;
  const known = settingName(name, environment.value);
  const value = await store(context.folders.config, known, text);
  await invocation.messages.note(`Set ${known} to ${value} in ${configFile(context.folders.config)}`);
  if (known === 'default-env' && variable(context.env, 'PETSTOCK_ENV') !== undefined) {
    await invocation.messages.warn('PETSTOCK_ENV is set, so default-env is not used');
  }
}

async function store<Name extends SettingName>(folder: string, name: Name, text: string): Promise<SettingValue<Name>> {
  const parsed = settingDefinitions[name].parse(text);
  if (!parsed.ok) throw new UsageError(`${name} was not changed: ${parsed.fault}`);
  // A file that can't be used would make every later command fail.
  if (name === 'ca-file') await requireAuthorities(String(parsed.value));
  await setSetting(folder, name, parsed.value);
  return parsed.value;
}

async function requireAuthorities(file: string): Promise<void> {
  const { readAuthorities } = await import('../../../settings/authorities.ts');
  readAuthorities(file);
}
