import { configFile, type StoredConfig } from '../../../settings/config-file.ts';
import { maskKey, parseKey } from '../../../settings/key-and-url.ts';
import { describeShadow, keySource, resolveBaseUrl } from '../../../settings/resolve.ts';
import { absoluteCommand, absoluteShellCommand } from '../../../settings/run-key-command.ts';
import { type Credential, type RemoteTarget, setKey, unsetKey } from '../../../settings/write-config.ts';
import { PetstockError, UsageError } from '../../../shared/errors.ts';
import { flagWords, petstock, targetName } from '../../../shared/hint.ts';
import { capitalized, sentence } from '../../../shared/parsed.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { define, type OptionsOf, optionRows } from '../command.ts';
import { readSecret, remoteTarget, reportChange, requireBaseUrl } from './entries.ts';

const commands = `

Commands that print a key:
  GNOME Keyring, KWallet: secret-tool lookup service petstock
  macOS Keychain: security find-generic-password -s petstock -w
  1Password: op read op://Private/petstock/credential
  pass: pass show petstock
  HashiCorp Vault: vault kv get -field=key secret/petstock
  Windows Credential Manager, with the PowerShell module CredentialManager:
  powershell -Command "(Get-StoredCredential -Target petstock).GetNetworkCredential().Password"`;

const setKeyOptions = optionRows(
  ['--url <url>', 'store this address, too; the key belongs to it'],
  ['--command <command>', 'store a command that prints the key, run without a shell'],
  ['--check', 'send one request with the key first, and store it only if the service accepts it'],
  [
    '--shell',
    "run the command of --command with the system's shell, in the root folder, so that pipes and variables work",
  ],
);
type SetKeyOptions = OptionsOf<typeof setKeyOptions>;

export const setKeyCommand = define({
  summary: 'store the key of one environment',
  // Any of these words may be a key, so it refuses them without repeating them.
  takesAnyWord: true,
  description:
    'Stores the API key of one environment in a file that only you can read. On a terminal, petstock asks for it. Otherwise it reads ' +
    'stdin. The key is never an argument, because the shell keeps the command line in its history, and every process ' +
    'can see it. The key is sent only to the origin of the address that is set when you store the key. With --command, ' +
    'petstock stores a command that prints the key instead: each petstock command that needs the key runs it once.',
  options: setKeyOptions,
  examples: [
    ['petstock config set-key --env staging', 'asks for the key without showing it'],
    ['petstock config set-key --env production < key.txt', 'reads all of stdin, without a terminal'],
    ['petstock config set-key -e production --url https://stock.example.com/v1', 'a key and the address it belongs to'],
    ["petstock config set-key -e production --command 'pass show petstock'", 'stores no key: each command runs pass'],
  ],
  after: commands,
  run: storeKey,
});

async function* storeKey(invocation: Invocation, options: SetKeyOptions, ...operands: string[]) {
  if (operands.length > 0) throw keyAsArgument(invocation, options);
  const { context, config, messages } = invocation;
  const target = remoteTarget(invocation, 'key');
  const address =
    options.url === undefined
      ? undefined
      : requireBaseUrl(options.url, commandAgain(target, { ...options, url: 'https://<your-store>/v1' }));
  const credential = commandOf(options) ?? (await typedKey(context, target, options));
  const inForce = address ?? resolveBaseUrl(target.env, context.env, config)?.value;
  if (options.check) await requireAcceptance(invocation, target, credential, inForce, options);
  const changed = await setKey(target, credential, inForce, address !== undefined);
  const [what, value] =
    typeof credential === 'string'
      ? [`the key ${maskKey(credential)}`, maskKey(credential)]
      : ['the key command', credential.command];
  const whose = inForce === undefined ? '' : `, for ${new URL(inForce).origin}`;
  const where = `of ${targetName(target)} in ${configFile(target.folder)}${whose}`;
  const ref = { store: target.store, name: `key.${target.env}` } as const;
  const words = changed ? `Stored ${what} ${where}` : `Already stored: ${what} ${where}`;
  yield* reportChange(invocation, { ref, value, changed }, words);
  for (const thing of address === undefined ? (['key'] as const) : (['URL', 'key'] as const)) {
    const shadow = describeShadow(thing, target.env, context.env, target.store);
    if (shadow !== undefined) await messages.warn(shadow);
  }
}

/**
 * Sends one request with a key that is not stored yet.
 * @throws the error of the request, with the source of the key; UsageError if a variable sets a key
 */
async function requireAcceptance(
  { context, config, connections }: Invocation,
  target: RemoteTarget,
  credential: Credential,
  address: string | undefined,
  options: SetKeyOptions,
): Promise<void> {
  const { store, env } = target;
  const variable = keySource(env, context.env, store);
  if (variable !== undefined) {
    throw new UsageError(`${variable} is set, so its key would be checked instead. Unset it. Nothing was stored`);
  }
  const isKey = typeof credential === 'string';
  const origin = address === undefined ? undefined : new URL(address).origin;
  const candidate: StoredConfig = {
    ...config,
    urls: address === undefined ? config.urls : { ...config.urls, [env]: address },
    keys: isKey ? { ...config.keys, [env]: credential } : {},
    keyCommands: isKey ? {} : { [env]: credential },
    keyOrigins: origin === undefined ? {} : { [env]: origin },
  };
  try {
    const { client } = await connections.connect({ config: candidate });
    await client.probe();
  } catch (error) {
    if (!(error instanceof PetstockError)) throw error;
    const isTyped = context.stdin.isTerminal && context.stderr.isTerminal;
    throw error.with({
      message: `${sentence(error.message)} The key was not stored`,
      keySource: isKey ? (isTyped ? 'the prompt' : 'stdin') : 'the command given with --command',
      hint: error.status === 401 ? commandAgain(target, options) : error.hint,
    });
  }
}

function commandAgain(
  { store, env }: { readonly store?: string | undefined; readonly env?: string | undefined },
  { url, command, shell, check }: SetKeyOptions,
): string {
  return petstock`config set-key ${flagWords({ store, env, url, command, shell, check })}`;
}

/**
 * Returns the command that prints the key; undefined if none was given.
 * @throws UsageError for a command that is not valid, or for `--shell` without one
 */
function commandOf({ command, shell = false }: SetKeyOptions): Credential | undefined {
  if (command === undefined) {
    if (shell) throw new UsageError('--shell has no effect without --command. Nothing was stored');
    return undefined;
  }
  const absolute = shell ? { ok: true as const, value: absoluteShellCommand(command) } : absoluteCommand(command);
  if (absolute.ok && command.trim() !== '') return { command: absolute.value, shell };
  throw new UsageError(
    `This command is not valid: ${absolute.ok ? 'it is empty' : absolute.problem}. Nothing was stored`,
    { hint: 'petstock config set-key --help' },
  );
}

async function typedKey(context: Invocation['context'], target: RemoteTarget, options: SetKeyOptions): Promise<string> {
  const key = parseKey(await readSecret(context, `API key for ${targetName(target)}`));
  if (key.ok) return key.value;
  throw new UsageError(`${capitalized(key.problem)}. Nothing was stored`, { hint: commandAgain(target, options) });
}

function keyAsArgument({ globals }: Invocation, { url, check }: SetKeyOptions): UsageError {
  const { env, store } = globals;
  return new UsageError(
    'config set-key does not take the key as an argument, because the command line stays in the history of the ' +
      'shell. Nothing was stored. If that was a real key, remove it from the history.',
    { hint: commandAgain({ store, env }, { ...(url !== undefined && { url }), ...(check && { check }) }) },
  );
}

export const unsetKeyCommand = define({
  summary: 'remove the key of one environment',
  description: 'Removes the stored API key of one environment from this machine. The service still accepts the key.',
  examples: [['petstock config unset-key --env production']],
  run: async function* (invocation) {
    const { context, config, messages } = invocation;
    const target = remoteTarget(invocation, 'key');
    const { store, env } = target;
    const where = targetName(target);
    const [key, command] = [config.keys[env], config.keyCommands[env]];
    const file = configFile(target.folder);
    const changed = await unsetKey(target);
    const what = command !== undefined ? 'the key command' : key === undefined ? 'the key' : `the key ${maskKey(key)}`;
    const words = changed ? `Removed ${what} of ${where} from ${file}` : `No key of ${where} is stored in ${file}`;
    yield* reportChange(invocation, { ref: { store, name: `key.${env}` }, value: null, changed }, words);
    const source = keySource(env, context.env, store);
    if (source !== undefined) await messages.warn(`${source} is set, so ${where} still has a key`);
  },
});
