import { configFile } from '../../../settings/config-file.ts';
import { describeShadow, isKnownStore } from '../../../settings/resolve.ts';
import {
  definitionOf,
  type RemoteEnvironmentName,
  type SettingName,
  settingName,
  settingNames,
} from '../../../settings/settings.ts';
import { unnamedStore, urlVariable, variable } from '../../../settings/variables.ts';
import { setSetting, setUrl, unsetUrl } from '../../../settings/write-config.ts';
import { UsageError } from '../../../shared/errors.ts';
import { didYouMean, petstock, targetName, targetWords } from '../../../shared/hint.ts';
import { sentence } from '../../../shared/parsed.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { define, suggestedByPlaceholder, suggesting, words } from '../command.ts';
import {
  entryName,
  environmentOf,
  isSetting,
  readSecret,
  remoteTarget,
  remoteWords,
  reportChange,
  requireBaseUrl,
  settingsTarget,
  settingWords,
  shownSetting,
} from './entries.ts';

const settingLines = settingNames.map((name) => {
  const { values, meaning, defaultValue } = definitionOf(name);
  const fallback = defaultValue === undefined ? '' : ` (default: ${defaultValue})`;
  return `  ${name.padEnd(14)}  ${values}\n${' '.repeat(18)}${meaning}${fallback}`;
});
const settingsHelp = `\nSettings:\n${settingLines.join('\n')}\n`;

/** The values that completion suggests for each setting. */
const suggestedValues = Object.fromEntries(
  settingNames.map((name) => {
    const { values } = definitionOf(name);
    const ofPlaceholder = suggestedByPlaceholder[values.slice(1, -1)] ?? words([]).suggests;
    return [name, values.startsWith('<') ? ofPlaceholder : words(values.split('|')).suggests];
  }),
);

export const setCommand = define({
  summary: 'change a setting',
  operands: {
    '<name>': ['one of the settings below', suggesting({ kind: 'words', words: settingWords })],
    '[value]': [
      'its value. Leave it out for state-url, which may contain a password: petstock then asks for it or reads stdin',
      suggesting({ kind: 'by-operand', values: suggestedValues }),
    ],
  },
  description: 'Changes a setting of petstock on this machine; with --store, only for that store.',
  before: settingsHelp,
  examples: [
    ['petstock config set default-env production'],
    ['petstock config set confirm always'],
    ['petstock config set max-zero 10'],
    ['petstock config set state-url < url.txt', "a password on the command line stays in the shell's history"],
  ],
  after: '\n\nKeys and URLs have their own commands: petstock config set-key, petstock config set-url.',
  run: async function* (invocation, _options, text, given?: string) {
    const { context, messages, target } = invocation;
    const name = settingName(text, target);
    const { isSecret = false, isForAllStores = false, rule, variable: source, parse, toStore } = definitionOf(name);
    if (given === undefined && !isSecret) {
      throw new UsageError(`The value is missing. ${name} must be ${rule}`, { hint: 'petstock help config set' });
    }
    const configTarget = settingsTarget(invocation);
    const typed = given ?? (await readSecret(context, `URL for ${name}`));
    if (isForAllStores && configTarget.store !== undefined) {
      throw new UsageError(`${name} applies to all stores. Leave out --store`, {
        hint: petstock`config set ${name} ${isSecret ? [] : typed}`,
      });
    }
    const parsed = parse(typed);
    // An invalid value would make every later command fail.
    if (!parsed.ok) throw new UsageError(`${name} was not changed: ${sentence(parsed.problem)}`);
    const value = toStore === undefined ? parsed.value : await toStore(parsed.value);
    if (name === 'codes') await requireCodes(invocation, String(value));
    const changed = await setSetting(configTarget, name, value);
    const shown = shownSetting(name, value);
    const where = `${configTarget.store === undefined ? '' : ` for the store ${configTarget.store}`} in ${configFile(configTarget.folder)}`;
    const words = changed ? `Set ${name} to ${shown}${where}` : `${name} is already ${shown}${where}`;
    yield* reportChange(invocation, { ref: { store: configTarget.store, name }, value: shown, changed }, words);
    if (name === 'default-store') await warnOfUnknownStore(invocation, String(value));
    if (source !== undefined && variable(context.env, source) !== undefined) {
      await messages.warn(`${source} is set, so ${name} is not used`);
    }
  },
});

/** @throws UsageError with the errors of a file of bar codes, or if it can't be read */
async function requireCodes(invocation: Invocation, file: string): Promise<void> {
  const { readCodesFile } = await import('../../shop-codes.ts');
  await readCodesFile(file, invocation, 'the setting codes was not changed');
}

async function warnOfUnknownStore({ context, configFile: file, messages }: Invocation, name: string): Promise<void> {
  if (name === unnamedStore || isKnownStore(name, context.env, file)) return;
  const near = didYouMean(name, Object.keys(file.stores));
  await messages.warn(
    `Nothing is stored yet for the store ${name}.${near} To store its address: ` +
      petstock`config set-url 'https://<your-store>/v1' --store ${name}`,
  );
}

export const unsetCommand = define({
  summary: 'remove a setting or URL',
  operands: {
    '<name>': [
      'one of the settings below, or url',
      suggesting({ kind: 'words', words: [...settingWords, ...remoteWords('url')] }),
    ],
  },
  description: 'Removes a setting, or the URL of an environment, from the configuration file.',
  before: `${settingsHelp}  url             the stored URL of the chosen environment; also url.staging, url.production\n`,
  examples: [['petstock config unset max-zero'], ['petstock config unset url --env staging']],
  after: '\n\nKeys have their own command: petstock config unset-key.',
  run: async function* (invocation, _options, text) {
    const name = entryName(text, invocation);
    if (isSetting(name)) return yield* removeSetting(invocation, name);
    if (name.startsWith('url.')) return yield* removeUrl(invocation, environmentOf(name));
    const where = targetWords({ store: invocation.store?.value, env: environmentOf(name) });
    throw new UsageError('Keys have their own command.', { hint: petstock`config unset-key ${where}` });
  },
});

async function* removeSetting(invocation: Invocation, name: SettingName) {
  const target = settingsTarget(invocation);
  const file = configFile(target.folder);
  const whose = target.store === undefined ? '' : ` for the store ${target.store}`;
  const changed = await setSetting(target, name, undefined);
  const value = target.store === undefined ? definitionOf(name).defaultValue : undefined;
  const now = value === undefined ? '' : `. The default is ${value}`;
  const words = changed ? `Removed ${name}${whose} from ${file}${now}` : `${name} is not set${whose} in ${file}`;
  yield* reportChange(invocation, { ref: { store: target.store, name }, value: null, changed }, words);
}

async function* removeUrl(invocation: Invocation, environment: RemoteEnvironmentName) {
  const { context, messages } = invocation;
  const store = invocation.store?.value;
  const configTarget = { folder: context.folders.config, store, env: environment };
  const [file, where] = [configFile(configTarget.folder), targetName(configTarget)];
  const changed = await unsetUrl(configTarget);
  const words = changed ? `Removed the URL of ${where} from ${file}` : `No URL of ${where} is stored in ${file}`;
  yield* reportChange(invocation, { ref: { store, name: `url.${environment}` }, value: null, changed }, words);
  const source = urlVariable(environment, store);
  if (variable(context.env, source) !== undefined) {
    await messages.warn(`${source} is set, so ${where} still has a URL`);
  }
}

export const setUrlCommand = define({
  summary: 'store the base URL of one environment',
  operands: { '<url>': 'the address of the service, up to and including /v1' },
  description:
    'Stores the service address of one environment. Sends nothing: petstock status tests the address. ' +
    'A stored key is sent only to the origin it was stored for. For another origin, use set-key --url.',
  examples: [
    ['petstock config set-url https://stock.example.com/v1 --env production'],
    ['petstock config set-url http://127.0.0.1:4010/v1 --env staging', 'http: is allowed on this machine only'],
    ['petstock config set-url https://north.example.com/v1 --store north -e production', 'for one of several stores'],
    ['petstock config unset url --env staging', 'removes it'],
  ],
  run: async function* (invocation, _options, text) {
    const target = remoteTarget(invocation, 'URL');
    const url = requireBaseUrl(text, petstock`config set-url 'https://<your-store>/v1' ${targetWords(target)}`);
    const changed = await setUrl(target, url);
    const { store, env } = target;
    const where = `${targetName(target)} in ${configFile(target.folder)}`;
    const words = changed ? `Stored the URL ${url} of ${where}` : `${url} is already the URL of ${where}`;
    yield* reportChange(invocation, { ref: { store, name: `url.${env}` }, value: url, changed }, words);
    const shadow = describeShadow('URL', env, invocation.context.env, store);
    if (shadow !== undefined) await invocation.messages.warn(shadow);
  },
});
