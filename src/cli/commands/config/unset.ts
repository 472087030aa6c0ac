import type { Command } from 'commander';
import { configFile } from '../../../settings/config-file.ts';
import { type SettingName, settingDefinitions } from '../../../settings/names.ts';
import type { RemoteEnvironmentName } from '../../../settings/settings.ts';
import { urlVariable, variable } from '../../../settings/variables.ts';
import { unsetSetting, unsetUrl } from '../../../settings/write-config.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { entryName, isSetting } from './entries.ts';
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
  throw new UsageError('Keys have a command of their own.', { hint: `petstock config unset-key --env ${environment}` });
}

async function forgetSetting(invocation: Invocation, name: SettingName): Promise<void> {
  const { config, context } = invocation;
  const file = configFile(context.folders.config);
  if (config.settings[name] === undefined) return invocation.messages.note(`${name} is not set in ${file}`);
  await unsetSetting(context.folders.config, name);
  const { defaultValue } = settingDefinitions[name];
  const now = defaultValue === undefined ? '' : `; the default is ${defaultValue}`;
  await invocation.messages.note(`Removed ${name} from ${file}${now}`);
}

async function forgetUrl(invocation: Invocation, environment: RemoteEnvironmentName): Promise<void> {
  const { config, context } = invocation;
  const file = configFile(context.folders.config);
  if (config.urls[environment] === undefined) {
    await invocation.messages.note(`No URL of ${environment} is stored in ${file}`);
  } else {
    await unsetUrl(context.folders.config, environment);
    await invocation.messages.note(`Removed the URL of ${environment} from ${file}`);
  }
  const source = urlVariable(environment);
  if (variable(context.env, source) !== undefined) {
    await invocation.messages.warn(`${source} is set, so ${environment} still has a URL`);
  }
}
