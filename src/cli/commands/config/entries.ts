import { type Column, recordView, type Scalar, type View } from '../../../output/view.ts';
import { parseBaseUrl } from '../../../settings/key-and-url.ts';
import {
  definitionOf,
  type RemoteEnvironmentName,
  remoteEnvironmentNames,
  type SettingName,
  type SettingValue,
  settingNames,
} from '../../../settings/settings.ts';
import type { ConfigTarget, RemoteTarget } from '../../../settings/write-config.ts';
import { maskDatabaseUrl } from '../../../shared/database-url.ts';
import { UsageError } from '../../../shared/errors.ts';
import { didYouMean } from '../../../shared/hint.ts';
import { quoted } from '../../../shared/parsed.ts';
import type { Word } from '../../completion/command-table.ts';
import type { Context } from '../../context.ts';
import type { Invocation } from '../../invocation/invocation.ts';

export const urlNames = remoteEnvironmentNames.map((name) => `url.${name}` as const);
export const keyNames = remoteEnvironmentNames.map((name) => `key.${name}` as const);

type EntryName = SettingName | (typeof urlNames)[number] | (typeof keyNames)[number];

export const entryNames: readonly EntryName[] = [...settingNames, ...urlNames, ...keyNames];

/** The names that completion suggests, with what they mean. */
export const settingWords = settingNames.map((name): Word => [name, definitionOf(name).meaning]);

export function remoteWords(what: 'url' | 'key'): readonly Word[] {
  return remoteEnvironmentNames.map((name): Word => [`${what}.${name}`, `the ${what} of ${name}`]);
}

/**
 * Returns the name of an entry that was typed; `url` and `key` stand for those of the chosen environment.
 * @throws UsageError for an unknown name, or for `url` or `key` of the sandbox
 */
export function entryName(text: string, invocation: Invocation): EntryName {
  if (text === 'url') return `url.${remoteTarget(invocation, 'URL').env}`;
  if (text === 'key') return `key.${remoteTarget(invocation, 'key').env}`;
  const name = entryNames.find((known) => known === text);
  if (name !== undefined) return name;
  throw new UsageError(
    `Unknown name ${quoted(text)}.${didYouMean(text, entryNames)} The names are ${entryNames.join(', ')}.`,
  );
}

export function isSetting(name: EntryName): name is SettingName {
  return settingNames.some((known) => known === name);
}

/** Returns the environment of an entry such as `url.staging`; staging for a setting. */
export function environmentOf(name: EntryName): RemoteEnvironmentName {
  return name.endsWith('.production') ? 'production' : 'staging';
}

/**
 * Returns where the key and the URL of the chosen target are stored.
 * @throws UsageError for the sandbox, because it creates its own key and URL
 */
export function remoteTarget({ context, store, environment }: Invocation, thing: 'key' | 'URL'): RemoteTarget {
  const remote = remoteEnvironmentNames.find((known) => known === environment.value);
  if (remote !== undefined) return { folder: context.folders.config, store: store?.value, env: remote };
  const words = `The sandbox makes its own ${thing}, which is not in the configuration. Choose another environment with --env`;
  throw new UsageError(`${words} (${remoteEnvironmentNames.join(' or ')}).`, { hint: 'petstock sandbox info' });
}

/**
 * Returns where settings are stored. They apply to all stores unless `--store` is given; a variable that chooses a
 * store doesn't limit a setting to that store.
 */
export function settingsTarget({ context, globals, store }: Invocation): ConfigTarget {
  return { folder: context.folders.config, store: globals.store === undefined ? undefined : store?.value };
}

/**
 * Maximum size of a key or URL on stdin, in bytes. A key is much shorter; a longer input was probably piped by mistake.
 */
const maxSecretBytes = 64 * 1024;

/**
 * Returns the answer to a hidden prompt, or all of stdin if there is no terminal.
 * @throws InterruptedError if the prompt is interrupted, UsageError if the input is too long
 */
export async function readSecret({ stdin, stderr, prompts }: Context, question: string): Promise<string> {
  if (stdin.isTerminal && stderr.isTerminal) return prompts.password(question);
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of stdin.chunks) {
    bytes += chunk.length;
    if (bytes > maxSecretBytes) throw new UsageError('The input is too long to be a key or a URL. Nothing was stored.');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

export const columns: readonly Column[] = [
  { field: 'name', title: 'Name' },
  { field: 'value', title: 'Value', whole: true },
  { field: 'source', title: 'Source' },
];

export interface EntryRef {
  /** The name of a store; undefined for the store without a name, whose settings apply to all stores. */
  readonly store: string | undefined;
  readonly name: EntryName;
}

/** Returns a setting for display, without a password. */
export function shownSetting(name: Parameters<typeof definitionOf>[0], value: SettingValue): Scalar {
  return definitionOf(name).isSecret ? maskDatabaseUrl(String(value)) : value;
}

export function fullName({ store, name }: EntryRef): string {
  return store === undefined ? name : `${store}/${name}`;
}

/**
 * Reports a stored or removed value as a sentence on stderr, and as a record on stdout if a format was given.
 * @param change `value` is the new value, formatted as in `config list`; null if it was removed
 */
export async function* reportChange(
  { messages, results }: Invocation,
  { ref, value, changed }: { readonly ref: EntryRef; readonly value: Scalar; readonly changed: boolean },
  sentence: string,
): AsyncGenerator<View, void> {
  await messages.note(sentence);
  if (results.isFormatNamed) yield recordView({ name: fullName(ref), value, changed });
}

/**
 * Parses the base URL of a service.
 * @throws UsageError if the URL is not valid; the message does not repeat the text
 */
export function requireBaseUrl(text: string, hint: string): string {
  const url = parseBaseUrl(text);
  if (url.ok) return url.value;
  throw new UsageError(`This URL is not valid: ${url.problem}.`, { hint });
}
