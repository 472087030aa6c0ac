import type { Command } from 'commander';
import { configFile } from '../../../settings/config-file.ts';
import { type SettingName, type SettingValue, settingDefinitions, settingName } from '../../../settings/names.ts';
import { isKnownStore, unnamedStore } from '../../../settings/stores.ts';
import { variable } from '../../../settings/variables.ts';
import { type ConfigPlace, setSetting } from '../../../settings/write-config.ts';
import { maskDatabaseUrl, parseDatabaseUrl } from '../../../shared/database-url.ts';
import { didYouMean } from '../../../shared/did-you-mean.ts';
import { UsageError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { readKeyText } from './read-key.ts';
import { settingsPlace } from './remote.ts';
import { settingsHelp } from './settings-help.ts';

const shown = examples([
  ['petstock config set default-env production'],
  ['petstock config set confirm always'],
  ['petstock config set max-zero 10'],
  ['petstock config set state-url < url.txt', 'a password on the command line stays in the history of the shell'],
]);

const help = `${shown}

Keys and URLs have commands of their own: petstock config set-key, petstock config set-url.`;

/** One state and one default are for all stores. */
const forAllStores: ReadonlySet<SettingName> = new Set(['default-store', 'state-url']);

/** Variables that go before a setting. */
const shadows: Readonly<Partial<Record<SettingName, string>>> = {
  'default-env': 'PETSTOCK_ENV',
  'default-store': 'PETSTOCK_STORE',
  'state-url': 'PETSTOCK_STATE_URL',
};

export function defineSet(command: Command, run: Run): void {
  command
    .argument('<name>', 'the setting')
    .argument(
      '[value]',
      'its value; of state-url, which may hold a password, asked for or read from stdin where it is missing',
    )
    .description('Changes a setting of petstock on this machine; with --store, for that store alone.')
    .addHelpText('after', `${settingsHelp()}${help}`)
    .action(run((invocation, _options, name, value) => storeSetting(invocation, name, value)));
}

async function storeSetting(invocation: Invocation, name: string, given: string | undefined): Promise<void> {
  const { context, environment } = invocation;
  const known = settingName(name, environment.value);
  const { isSecret = false } = settingDefinitions[known];
  if (given === undefined && !isSecret) {
    throw new UsageError(`Missing value: ${known} takes ${settingDefinitions[known].values}`, {
      hint: 'petstock help config set',
    });
  }
  const place = settingsPlace(invocation);
  const text = given ?? (await readKeyText(context, `URL for ${known}`));
  if (forAllStores.has(known) && place.store !== undefined) {
    throw new UsageError(`${known} is a setting of all stores; leave out --store`, {
      hint: isSecret ? `petstock config set ${known}` : `petstock config set ${known} ${shellWord(text)}`,
    });
  }
  const value = await store(place, known, text);
  const shownValue = isSecret ? maskDatabaseUrl(String(value)) : value;
  const whose = place.store === undefined ? '' : ` for the store ${place.store}`;
  await invocation.messages.note(`Set ${known} to ${shownValue}${whose} in ${configFile(place.folder)}`);
  if (known === 'default-store') await warnOfUnknownStore(invocation, String(value));
  const shadow = shadows[known];
  if (shadow !== undefined && variable(context.env, shadow) !== undefined) {
    await invocation.messages.warn(`${shadow} is set, so ${known} is not used`);
  }
}

/** A typing error here would make every later command fail. */
async function warnOfUnknownStore({ context, configFile: file, messages }: Invocation, name: string): Promise<void> {
  if (name === unnamedStore || isKnownStore(name, context.env, file)) return;
  const near = didYouMean(name, Object.keys(file.stores));
  await messages.warn(
    `nothing is stored for a store ${name} yet.${near} To store its address: ` +
      `petstock config set-url https://<your-store>/v1 --store ${shellWord(name)}`,
  );
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
  if (name === 'state-url') requireDatabaseUrl(String(parsed.value));
  await setSetting(place, name, parsed.value);
  return parsed.value;
}

function requireDatabaseUrl(text: string): void {
  const parsed = parseDatabaseUrl(text);
  if (!parsed.ok) throw new UsageError(`state-url was not changed: ${parsed.fault}.`);
}

async function requireAuthorities(file: string): Promise<void> {
  const { readAuthorities } = await import('../../../settings/authorities.ts');
  readAuthorities(file);
}
