import type { Command } from 'commander';
import { parseCommandLine } from '../../../settings/command-line.ts';
import { configFile } from '../../../settings/config-file.ts';
import { maskKey, parseKey } from '../../../settings/keys.ts';
import { describeKeyShadow, describeUrlShadow, keySource, resolveBaseUrl } from '../../../settings/resolve.ts';
import type { StoredConfig } from '../../../settings/settings.ts';
import { type Credential, type RemotePlace, setKey, setKeyAndUrl } from '../../../settings/write-config.ts';
import { PetstockError, UsageError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { whereName, whereOptions } from '../../../shared/where.ts';
import type { GlobalOptions } from '../../invocation/globals.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { readKeyText } from './read-key.ts';
import { remotePlace, requireBaseUrl } from './remote.ts';

interface SetKeyOptions {
  readonly url?: string;
  readonly command?: string;
  readonly shell?: boolean;
  readonly check?: boolean;
}

const help = `${examples([
  ['petstock config set-key --env staging', 'asks, and shows nothing of what you type'],
  ['petstock config set-key --env production < key.txt', 'takes all of stdin where that is not a terminal'],
  ['petstock config set-key -e production --url https://stock.example.com/v1', 'a key and the address it belongs to'],
  [
    "petstock config set-key -e production --command 'pass show petstock'",
    'stores no key: each command asks pass for it',
  ],
])}

Commands that print a key:
  GNOME Keyring, KWallet: secret-tool lookup service petstock
  Keychain of macOS: security find-generic-password -s petstock -w
  1Password: op read op://Private/petstock/credential
  pass: pass show petstock
  HashiCorp Vault: vault kv get -field=key secret/petstock
  Windows Credential Manager, with the module CredentialManager of PowerShell:
  powershell -Command "(Get-StoredCredential -Target petstock).GetNetworkCredential().Password"`;

export function defineSetKey(command: Command, run: Run): void {
  const store = run<SetKeyOptions>(storeKey);
  command
    .description(
      'Stores the API key of one environment, in a file that only you can read. It is asked for on a terminal and read from ' +
        'stdin elsewhere, never taken as an argument: the command line is kept in the history of the shell and can be seen ' +
        'by every process. The key is sent to the address in force when it is stored, and to no other origin. With --command ' +
        'no key is stored, but what prints it: each petstock command that needs the key runs it once.',
    )
    .option('--url <url>', 'store this address too: it is the one that the key belongs to')
    .option('--command <command>', 'store a command that prints the key; it is run without a shell')
    .option(
      '--check',
      'ask the service with the key first, which takes one request, and store it only if it is accepted',
    )
    .option('--shell', 'have the shell of the system run that command: pipes and variables work')
    .addHelpText('after', help)
    // Everything unexpected may be a key. Commander would repeat it in its message, so we look ourselves.
    .allowExcessArguments(true)
    .allowUnknownOption(true)
    .action(async (...args: unknown[]) => {
      if (command.args.length > 0) throw keyAsArgument(command);
      await store(...args);
    });
}

async function storeKey(invocation: Invocation, options: SetKeyOptions): Promise<void> {
  const { context, config, messages } = invocation;
  const place = remotePlace(invocation, 'key');
  const { store, environment } = place;
  const address = options.url === undefined ? undefined : requireBaseUrl(options.url, place);
  const credential = commandOf(options) ?? (await typedKey(invocation, place));
  const inForce = address ?? resolveBaseUrl(environment, context.env, config)?.value;
  if (options.check) await requireAcceptance(invocation, place, { credential, address: inForce });
  if (address === undefined) await setKey(place, credential, inForce);
  else await setKeyAndUrl(place, credential, address);
  const what = typeof credential === 'string' ? `the key ${maskKey(credential)}` : 'the key command';
  const whose = inForce === undefined ? '' : `, for ${new URL(inForce).origin}`;
  const where = whereName({ store, env: environment });
  await messages.note(`Stored ${what} of ${where} in ${configFile(place.folder)}${whose}`);
  const urlShadow = address === undefined ? undefined : describeUrlShadow(environment, context.env, store);
  if (urlShadow !== undefined) await messages.warn(urlShadow);
  const shadow = describeKeyShadow(environment, context.env, store);
  if (shadow !== undefined) await messages.warn(shadow);
}

interface Candidate {
  readonly credential: Credential;
  /** Where the key is to be sent; undefined: not known. */
  readonly address: string | undefined;
}

/** One request with a key that is not stored yet. @throws the error of the request, which says that nothing was stored */
async function requireAcceptance(
  { context, config, service }: Invocation,
  { store, environment }: RemotePlace,
  { credential, address }: Candidate,
): Promise<void> {
  const variable = keySource(environment, context.env, store);
  if (variable !== undefined) {
    throw new UsageError(`${variable} is set, and its key would be checked instead: unset it. Nothing was stored`);
  }
  const isKey = typeof credential === 'string';
  const origin = address === undefined ? undefined : new URL(address).origin;
  const candidate: StoredConfig = {
    ...config,
    urls: address === undefined ? config.urls : { ...config.urls, [environment]: address },
    keys: isKey ? { ...config.keys, [environment]: credential } : {},
    keyCommands: isKey ? {} : { [environment]: credential },
    keyOrigins: origin === undefined ? {} : { [environment]: origin },
  };
  try {
    const { client } = await service.connectWith(candidate);
    await client.probe();
  } catch (error) {
    if (!(error instanceof PetstockError)) throw error;
    throw error.with({ message: `${error.message.replace(/\.$/, '')}. The key was not stored` });
  }
}

/** @throws UsageError for a command that can't be run as it stands; undefined where none was given */
function commandOf({ command, shell = false }: SetKeyOptions): Credential | undefined {
  if (command === undefined) {
    if (shell) throw new UsageError('--shell says how --command is run: give both. Nothing was stored');
    return undefined;
  }
  const words = shell ? undefined : parseCommandLine(command);
  if (words?.ok !== false && command.trim() !== '') return { command, shell };
  const fault = words?.ok === false ? words.fault : 'it is empty';
  throw new UsageError(`This command cannot be stored: ${fault}. Nothing was stored`, {
    hint: 'petstock config set-key --help',
  });
}

async function typedKey({ context }: Invocation, { store, environment }: RemotePlace): Promise<string> {
  const where = { store, env: environment };
  const parsed = parseKey(await readKeyText(context, `API key for ${whereName(where)}`));
  if (parsed.ok) return parsed.value;
  throw new UsageError(`Nothing was stored: ${parsed.fault}.`, {
    hint: `petstock config set-key ${whereOptions(where)}`,
  });
}

function keyAsArgument(command: Command): UsageError {
  const { env, store } = command.optsWithGlobals<GlobalOptions>();
  const stores = store === undefined ? '' : ` --store ${shellWord(store)}`;
  const environments = env === undefined ? '' : ` --env ${shellWord(env)}`;
  return new UsageError(
    'config set-key takes no key as an argument: a key on the command line stays in the history of the ' +
      'shell. Nothing was stored. If that was a real key, remove it there.',
    { hint: `petstock config set-key${stores}${environments}` },
  );
}
