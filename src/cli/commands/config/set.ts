import type { Command } from 'commander';
import { configFile } from '../../../settings/config-file.ts';
import { type SettingName, type SettingValue, settingDefinitions, settingName } from '../../../settings/names.ts';
import { variable } from '../../../settings/variables.ts';
import { type ConfigPlace, setSetting } from '../../../settings/write-config.ts';
import { UsageError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { settingsPlace } from './remote.ts';
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
    .description('Changes a setting of petstock on this machine; with --store, for that store alone.')
    .addHelpText('after', `${settingsHelp()}${help}`)
    .action(run((invocation, _options, name, value) => storeSetting(invocation, name, value)));
}

async function storeSetting(invocation: Invocation, name: string, text: string): Promise<void> {
  const { context, environment } = invocation;
  const known = settingName(name, environment.value);
  const place = settingsPlace(invocation);
  if (known === 'default-store' && place.store !== undefined) {
    throw new UsageError('default-store is a setting of all stores; leave out --store', {
      hint: `petstock config set default-store ${shellWord(text)}`,
    });
  }
  const value = await store(place, known, text);
  const whose = place.store === undefined ? '' : ` for the store ${place.store}`;
  await invocation.messages.note(`Set ${known} to ${value}${whose} in ${configFile(place.folder)}`);
  const shadow = known === 'default-env' ? 'PETSTOCK_ENV' : known === 'default-store' ? 'PETSTOCK_STORE' : undefined;
  if (shadow !== undefined && variable(context.env, shadow) !== undefined) {
    await invocation.messages.warn(`${shadow} is set, so ${known} is not used`);
  }
}

async function store<Name extends SettingName>(
  place: ConfigPlace,
  name: Name,
  text: string,
): Promise<SettingValue<Name>> {
  const parsed = settingDefinitions[name].parse(text);
  if (!parsed.ok) throw new UsageError(`${name} was not changed: ${parsed.fault}`);
  // A file that can't be used would make every later command fail.
  if (name === 'ca-file') await requireAuthorities(String(parsed.value));
  await setSetting(place, name, parsed.value);
  return parsed.value;
}

async function requireAuthorities(file: string): Promise<void> {
  const { readAuthorities } = await import('../../../settings/authorities.ts');
  readAuthorities(file);
}
