import { type Client, createClient } from '../../api/client.ts';
import type { TransportOptions } from '../../api/transport.ts';
import { Governor } from '../../rate-limit/governor.ts';
import { scopeOf } from '../../rate-limit/key-state.ts';
import type { RunContext } from '../../runs/run-context.ts';
import type { ConfigFile } from '../../settings/config-file.ts';
import { maskKey, serviceNameOf } from '../../settings/key-and-url.ts';
import {
  type PrintedKey,
  requireKeyOfOrigin,
  requireKnownStore,
  resolveBaseUrl,
  resolveKey,
} from '../../settings/resolve.ts';
import type { RemoteEnvironmentName } from '../../settings/settings.ts';
import type { Sourced } from '../../settings/variables.ts';
import { userOf } from '../../shared/account.ts';
import { AuthError, UsageError } from '../../shared/errors.ts';
import { petstock, targetWords } from '../../shared/hint.ts';
import { stripControls } from '../../shared/sanitize.ts';
import { type EnvironmentName, targetName } from '../../shared/target.ts';
import { version } from '../../shared/version.ts';
import type { State } from '../../state/state.ts';
import type { Context } from '../context.ts';
import { withoutKeys } from '../typed-keys.ts';
import { type GlobalOptions, type ResolvedTarget, targetOf } from './globals.ts';
import type { Messages } from './messages.ts';
import { debugTransport, networkFor, watchAnswers } from './network.ts';
import { stateOptions } from './state-access.ts';

export interface ConnectionUse {
  /**
   * Whether this is a bulk run. A bulk run leaves a small part of the limit to interactive commands and, without
   * `--max-wait`, waits for any number of minute windows.
   */
  readonly bulk?: boolean;
  /** Whether the command changes stock and therefore needs a working history. */
  readonly writes?: boolean;
}

/** An open connection to one service: a client with its governor and state. */
export interface ServiceConnection extends RunContext {
  readonly client: Client;
  readonly governor: Governor;
  readonly state: State;
  readonly env: EnvironmentName;
  /** The name of one of several stores; undefined for the store without a name. */
  readonly store: string | undefined;
  /** The key, masked except for its last 4 characters. */
  readonly maskedKey: string;
  /** Reports whether a request other than a GET was sent, so that something may have changed. */
  hasSentWrite(): boolean;
  /**
   * Opens a connection that uses the configured state instead of the fallback. Closing the new connection closes this
   * one, too.
   * @throws an error if the configured state can't be used
   */
  withConfiguredState(): Promise<ServiceConnection>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly context: Context;
  readonly globals: GlobalOptions;
  readonly configFile: ConfigFile;
  /** The name of the command, such as `inventory apply`. It is shown to other processes. */
  readonly command: string;
  readonly messages: Messages;
}

/** Default timeout of one request, in milliseconds. */
const defaultTimeout = 30_000;

interface Endpoint {
  readonly baseUrl: string;
  readonly key: string;
  readonly serviceName: string;
  /** The name under which the limits of the key are stored; all addresses of one origin share it. */
  readonly origin: string;
  readonly network: TransportOptions;
  close(): Promise<void>;
}

/**
 * Opens a connection to the service of a target.
 * @throws UsageError if no base URL is set, AuthError if no key is set; the hint is the command that sets it. AuthError
 * for a stored key of another origin
 */
export async function connect(
  options: ConnectOptions,
  resolved: ResolvedTarget,
  use: ConnectionUse,
): Promise<ServiceConnection> {
  const env = resolved.environment.value;
  const endpoint =
    env === 'sandbox' ? await sandboxEndpoint(options) : await remoteEndpoint(env, options, resolved, use);
  try {
    const { context, messages, globals } = options;
    const { timeout = defaultTimeout, retries = 4 } = globals;
    const { baseUrl, key, serviceName } = endpoint;
    const scope = scopeOf(endpoint.origin, key);
    const { transport, ...watched } = transportFor(options, endpoint.network);
    const { clock, interrupted, random } = context;
    const store = resolved.store?.value;
    const known = {
      ...{ env, store, target: { env, store }, baseUrl, maskedKey: maskKey(key), scope, serviceName },
      ...{ timeout, retries, clock, interrupted, random, user: use.writes ? userOf(context.env) : undefined },
      onDelay: (sentence: string, attempt?: number) => messages.delayed(sentence, attempt),
    };
    // Loaded late, because the database engine takes a while to load.
    const { openState } = await import('../../state/open-state.ts');
    const open = async (need: 'history' | 'limits', closeRest: () => Promise<void>): Promise<ServiceConnection> => {
      const state = await openState(stateOptions({ ...options, ...resolved }, need));
      const governor = governorFor(options, resolved, use, { state, scope });
      const client = createClient({
        ...{ baseUrl, key, transport, governor, clock, interrupted, random, timeout },
        userAgent: `petstock/${version}`,
        retries,
        onRetry: ({ reason, attempt, of }) =>
          messages.delayed(`${reason}, trying again (${attempt} of ${of})`, attempt),
      });
      // Each step runs even if the one before it fails, because open connections would keep the process from ending.
      const close = () =>
        governor
          .flush()
          .finally(() => state.close())
          .finally(closeRest);
      return {
        ...known,
        client,
        governor,
        state,
        ...watched,
        close,
        withConfiguredState: () => open('history', close),
      };
    };
    return await open(use.writes ? 'history' : 'limits', () => endpoint.close());
  } catch (error) {
    await endpoint.close();
    throw error;
  }
}

function governorFor(
  { context, globals, messages }: ConnectOptions,
  resolved: ResolvedTarget,
  { bulk = false }: ConnectionUse,
  { state, scope }: { readonly state: State; readonly scope: string },
): Governor {
  const { clock, random, processes } = context;
  const { timeout = defaultTimeout, maxWait = 90_000 } = globals;
  return new Governor({
    ...{ clock, random, scope, bulk, maxWait },
    limits: state.limits,
    env: targetName(targetOf(resolved)),
    // A bulk run may span any number of minute windows, unless `--max-wait` is given.
    maxWaitFor: bulk && globals.maxWait === undefined ? 'wait' : 'all',
    exclusive: state.isFallback,
    permitLifetime: timeout + 1000,
    self: processes.self,
    isGone: (process) => processes.isGone(process),
    onWait: (ms, reason) => messages.waiting(ms, reason),
    onUnbelievable: (line) => void messages.warn(`${line}. To clear the wait: petstock limits clear`),
  });
}

function transportFor({ context, globals, messages }: ConnectOptions, network: TransportOptions) {
  const { clock } = context;
  const opened = context.openTransport(network);
  const log = (line: string) => void messages.debug(stripControls(line));
  const shown = globals.debug === undefined ? opened : debugTransport(opened, clock, log, globals.debug);
  return watchAnswers(shown, clock, (line) => messages.slow(line));
}

async function sandboxEndpoint({ context, messages }: ConnectOptions): Promise<Endpoint> {
  const { narrowSandbox, startSandbox } = await import('../sandbox.ts');
  const warning = narrowSandbox(context.folders.state);
  if (warning !== undefined) await messages.warn(warning);
  const { url, key, close } = await startSandbox(context);
  return { baseUrl: url, key, serviceName: 'sandbox', origin: 'sandbox', network: {}, close };
}

async function remoteEndpoint(
  environment: RemoteEnvironmentName,
  options: ConnectOptions,
  resolved: ResolvedTarget,
  { writes = false }: ConnectionUse,
): Promise<Endpoint> {
  const { context, configFile, messages } = options;
  const { store, config } = resolved;
  const target = targetOf(resolved);
  const url = resolveBaseUrl(environment, context.env, config);
  if (url === undefined) {
    if (store !== undefined) requireKnownStore(store, context.env, configFile, context.argv);
    throw new UsageError(`No service address is set for ${targetName(target)}`, {
      hint: petstock`config set-url 'https://<your-store>/v1' ${targetWords(target)}`,
    });
  }
  const hint = petstock`config set-key ${targetWords(target)}`;
  const found = resolveKey(environment, context.env, config);
  if (found === undefined) throw new AuthError(`No API key is set for ${targetName(target)}`, { hint });
  requireKeyOfOrigin(environment, found, url, config);
  const serviceName = serviceNameOf(url.value);
  const network = await networkFor(url.value, { context, settings: config.settings, messages, writes });
  const key = await keyOf(found, options, hint);
  const { origin } = new URL(serviceName);
  return { baseUrl: url.value, key, serviceName, origin, network, close: async () => {} };
}

/** Returns the key. If the key is printed by a command, runs the command, once for each connection. */
async function keyOf(key: Sourced<string> | PrintedKey, { context, messages }: ConnectOptions, hint: string) {
  if (!('command' in key)) return key.value;
  // Loaded late, because few keys come from a command.
  const { runKeyCommand } = await import('../../settings/run-key-command.ts');
  return runKeyCommand(key.command, {
    ...{ env: context.env, clock: context.clock, interrupted: context.interrupted, hint },
    onMessage: (line) => void messages.quote(withoutKeys(line), { always: true }),
  });
}
