import {
  type EnvironmentName,
  quoted,
  type RemoteEnvironmentName,
  remoteEnvironmentNames,
  type SettingName,
  settingNames,
} from '../../../settings/settings.ts';
import type { ConfigPlace, RemotePlace } from '../../../settings/write-config.ts';
import { didYouMean } from '../../../shared/did-you-mean.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';
import type { Invocation } from '../../invocation/invocation.ts';

export const urlNames = remoteEnvironmentNames.map((name) => `url.${name}` as const);
export const keyNames = remoteEnvironmentNames.map((name) => `key.${name}` as const);

export type EntryName = SettingName | (typeof urlNames)[number] | (typeof keyNames)[number];

/** Every name, in the order in which they are listed. */
export const entryNames: readonly EntryName[] = [...settingNames, ...urlNames, ...keyNames];

/**
 * Parses a name as it was typed; `url` and `key` are those of the chosen environment.
 * @throws UsageError for an unknown name
 */
export function entryName(text: string, environment: EnvironmentName): EntryName {
  const full = text === 'url' || text === 'key' ? `${text}.${environment}` : text;
  const name = entryNames.find((known) => known === full);
  if (name !== undefined) return name;
  throw new UsageError(
    `Unknown name${quoted(full)}.${didYouMean(full, entryNames)} There are ${entryNames.join(', ')}.`,
  );
}

export function isSetting(name: EntryName): name is SettingName {
  return settingNames.some((known) => known === name);
}

/** Returns the environment of `url.staging` or `key.staging`. */
export function environmentOf(name: EntryName): RemoteEnvironmentName {
  return name.endsWith('.production') ? 'production' : 'staging';
}

/**
 * Returns where the key and the URL of the chosen store and environment are kept.
 * @throws UsageError for the sandbox, which makes its own
 */
export function remotePlace({ context, store, environment }: Invocation, thing: 'key' | 'URL'): RemotePlace {
  const remote = remoteEnvironmentNames.find((known) => known === environment.value);
  if (remote !== undefined) return { folder: context.folders.config, store: store?.value, environment: remote };
  const words = `The sandbox makes its own ${thing}: there is nothing to set. Name another environment with --env`;
  throw new UsageError(`${words} (${remoteEnvironmentNames.join(' or ')}).`, { hint: 'petstock sandbox info' });
}

/** Returns where settings are kept: in a store only if `--store` names it, since a guard should hold everywhere. */
export function settingsPlace({ context, globals, store }: Invocation): ConfigPlace {
  return { folder: context.folders.config, store: globals.store === undefined ? undefined : store?.value };
}

/** In bytes: far more than any key, far less than a file that was piped by mistake. */
const mostBytes = 64 * 1024;

/**
 * Returns what was typed at a hidden question if stdin and stderr are a terminal, else all of stdin.
 * @throws InterruptedError on Ctrl-C, UsageError if stdin holds more than any key could
 */
export async function readSecret({ stdin, stderr, prompts }: Context, question: string): Promise<string> {
  if (stdin.isTerminal && stderr.isTerminal) return prompts.password(question);
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of stdin.chunks) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new UsageError('What stdin holds is too long to be a key. Nothing was stored.');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
