import type { Command } from 'commander';
import { configFile } from '../../../settings/config-file.ts';
import { type SettingName, settingDefinitions } from '../../../settings/names.ts';
import type { RemoteEnvironmentName } from '../../../settings/settings.ts';
import { emptyStore } from '../../../settings/stores.ts';
import { urlVariable, variable } from '../../../settings/variables.ts';
import { unsetSetting, unsetUrl } from '../../../settings/write-config.ts';
import { UsageError } from '../../../shared/errors.ts';
import { whereName, whereOptions } from '../../../shared/where.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { entryName, isSetting } from './entries.ts';
import { settingsPlace } from './remote.ts';
import { settingsHelp } from './settings-help.ts';

const shown = examples([['petstock config unset max-zero'], ['petstock config unset url --env staging']]);

const help = `  url           the stored URL of the chosen environment; also url.staging, url.production
${shown}

Keys have a command of their own: petstock config unset-key.`;

export function defineUnset(command: Command, run: Run): void {
  command
    .argument('<name>', 'the setting, or url')
    .description('Removes a setting, or the URL of an environment, from the configuration file.')
    .addHelpText('after', `${settingsHelp()}${help}`)
    .action(run((invocation, _options, name) => forget(invocation, name)));
}

async function forget(invocation: Invocation, text: string): Promise<void> {
  const name = entryName(text, invocation.environment.value);
  if (isSetting(name)) return forgetSetting(invocation, name);
  const environment = name.endsWith('.production') ? 'production' : 'staging';
  if (name.startsWith('url.')) return forgetUrl(invocation, environment);
  const where = whereOptions({ store: invocation.store?.value, env: environment });
  throw new UsageError('Keys have a command of their own.', { hint: `petstock config unset-key ${where}` });
}

async function forgetSetting(invocation: Invocation, name: SettingName): Promise<void> {
  const place = settingsPlace(invocation);
  const file = configFile(place.folder);
  const { [place.store ?? '']: own } = invocation.configFile.stores;
  const { settings } = place.store === undefined ? invocation.configFile : (own ?? emptyStore);
  const whose = place.store === undefined ? '' : ` for the store ${place.store}`;
  if (settings[name] === undefined) return invocation.messages.note(`${name} is not set${whose} in ${file}`);
  await unsetSetting(place, name);
  const value = place.store === undefined ? settingDefinitions[name].defaultValue : undefined;
  const now = value === undefined ? '' : `; the default is ${value}`;
  await invocation.messages.note(`Removed ${name}${whose} from ${file}${now}`);
}

async function forgetUrl(invocation: Invocation, environment: RemoteEnvironmentName): Promise<void> {
  const { config, context } = invocation;
  const store = invocation.store?.value;
  const place = { folder: context.folders.config, store, environment };
  const [file, where] = [configFile(place.folder), whereName({ store, env: environment })];
  if (config.urls[environment] === undefined) {
    await invocation.messages.note(`No URL of ${where} is stored in ${file}`);
  } else {
    await unsetUrl(place);
    await invocation.messages.note(`Removed the URL of ${where} from ${file}`);
  }
  const source = urlVariable(environment, store);
  if (variable(context.env, source) !== undefined) {
    await invocation.messages.warn(`${source} is set, so ${where} still has a URL`);
  }
}
