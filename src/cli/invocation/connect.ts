import { type Client, createClient } from '../../api/client.ts';
import type { TransportOptions } from '../../api/transport.ts';
import { wrap } from '../../output/text-width.ts';
import { createGovernor } from '../../rate-limit/admission.ts';
import type { Governor } from '../../rate-limit/governor.ts';
import { scopeOf } from '../../rate-limit/key-state.ts';
import type { ConfigFile, StoredConfig } from '../../settings/config-file.ts';
import { maskKey } from '../../settings/keys.ts';
import {
  type PrintedKey,
  type Resolved,
  requireKeyOfOrigin,
  requireKnownStore,
  resolveBaseUrl,
  resolveKey,
} from '../../settings/resolve.ts';
import type { EnvironmentName, RemoteEnvironmentName } from '../../settings/settings.ts';
import type { Sourced } from '../../settings/variables.ts';
import { AuthError, UsageError } from '../../shared/errors.ts';
import { stripControls } from '../../shared/sanitize.ts';
import { version } from '../../shared/version.ts';
import { whereName, whereOptions } from '../../shared/where.ts';
import { serviceOf } from '../../state/service-of.ts';
import type { State } from '../../state/state.ts';
import type { Context } from '../context.ts';
import { looksLikeKey } from '../typed-keys.ts';
import type { Messages, Retry } from './messages.ts';
import { debugTransport, networkFor, type SeenHead, watchAnswers } from './network.ts';
import { openStateFor } from './state.ts';

/** The needs of a command. */
export interface ConnectionUse {
  /** It leaves a small part of the limit to people, and waits for as many minute windows as it takes. */
  readonly bulk?: boolean;
  /** It changes stock, so that nothing may be sent without a history. */
  readonly writes?: boolean;
}

/** A client, what it talks to, the state that it shares with others, and what has to be closed behind it. */
export interface Connection {
  readonly client: Client;
  readonly environment: EnvironmentName;
  /** One of several stores; undefined: the one without a name. */
  readonly store: string | undefined;
  readonly baseUrl: string;
  readonly governor: Governor;
  readonly state: State;
  /** Masked to its last 4 characters. */
  readonly maskedKey: string;
  /** A hash that stands for the service and the key. */
  readonly scope: string;
  /** The service itself, whatever it is called here: `serviceOf` its address, or `sandbox`, whose port changes. */
  readonly service: string;
  /** For one request, in milliseconds. */
  readonly timeout: number;
  /** The latest answer that said what time it is. */
  seenHead(): SeenHead | undefined;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly context: Context;
  readonly environment: EnvironmentName;
  readonly store: Sourced<string> | undefined;
  readonly config: StoredConfig;
  readonly configFile: ConfigFile;
  /** `inventory apply`, for other processes. */
  readonly command: string;
  /** In milliseconds, for one request. */
  readonly timeout: number;
  /** How often a request is sent again after a fault of the network. */
  readonly retries: number;
  /** In milliseconds, for all waits of the command, or for one of them. */
  readonly maxWait: number;
  readonly maxWaitFor: 'all' | 'wait';
  readonly bulk: boolean;
  readonly writes: boolean;
  /** How requests are shown; undefined: not at all. */
  readonly debug: 'text' | 'json' | undefined;
  readonly messages: Messages;
}

/** Where requests go and with which key. */
interface Target {
  readonly baseUrl: string;
  readonly key: string;
  readonly service: string;
  /** The name that the limits of the key are remembered under: all addresses of one origin have one. */
  readonly origin: string;
  readonly network: TransportOptions;
  close(): Promise<void>;
}

/** @throws UsageError without a base URL, AuthError without a key; each names the command that sets it */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { context, environment, messages, timeout } = options;
  const target = environment === 'sandbox' ? await sandboxTarget(options) : await remoteTarget(environment, options);
  try {
    const { baseUrl, key, service } = target;
    const scope = scopeOf(target.origin, key);
    const need = options.writes ? 'history' : 'limits';
    const { config, command } = options;
    const state = await openStateFor({ context, messages, config, environment: { value: environment }, command, need });
    const { clock, interrupted, random, processes } = context;
    const governor = createGovernor({
      clock,
      random,
      store: state.limits,
      scope,
      env: whereName({ store: options.store?.value, env: environment }),
      maxWait: options.maxWait,
      maxWaitFor: options.maxWaitFor,
      bulk: options.bulk,
      alone: state.isStandIn ?? false,
      lease: timeout + 1000,
      self: processes.self,
      isGone: (process) => processes.isGone(process),
      onWait: (ms, reason) => messages.waiting(ms, reason),
      onUnbelievable: (line) => void messages.alert(line),
    });
    const onRetry = (retry: Retry) => messages.retrying(retry);
    const opened = context.openTransport(target.network);
    const log = (line: string) => void messages.debug(stripControls(line));
    const sender = options.debug === undefined ? opened : debugTransport(opened, clock, log, options.debug);
    let seenHead: SeenHead | undefined;
    const transport = watchAnswers(sender, {
      clock,
      onSlow: (line) => messages.slow(line),
      onHead: (head) => {
        seenHead = head;
      },
    });
    const userAgent = `petstock/${version}`;
    const { retries } = options;
    const sending = { transport, governor, clock, interrupted, random, timeout, retries, onRetry };
    const client = createClient({ baseUrl, key, userAgent, ...sending });
    const close = () => closeAll([() => governor.flush(), () => state.close(), () => target.close()]);
    const known = {
      environment,
      store: options.store?.value,
      baseUrl,
      maskedKey: maskKey(key),
      scope,
      service,
      timeout,
    };
    return { ...known, client, governor, state, seenHead: () => seenHead, close };
  } catch (error) {
    await target.close();
    throw error;
  }
}

/** Each of them, in this order, whatever fails: what stays open would keep the process from ending. @throws the first failure */
async function closeAll(closings: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closings) await close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function sandboxTarget({ context, messages }: ConnectOptions): Promise<Target> {
  const { narrowSandbox, startSandbox } = await import('../sandbox.ts');
  const warning = narrowSandbox(context.folders.state);
  if (warning !== undefined) await messages.warn(warning);
  const { url, key, close } = await startSandbox(context);
  return { baseUrl: url, key, service: 'sandbox', origin: 'sandbox', network: {}, close };
}

async function remoteTarget(environment: RemoteEnvironmentName, options: ConnectOptions): Promise<Target> {
  const { context, config, messages, writes, store } = options;
  const where = { store: store?.value, env: environment };
  const url = resolveBaseUrl(environment, context.env, config);
  if (url === undefined) {
    if (store !== undefined) requireKnownStore(store, context.env, options.configFile);
    throw new UsageError(`No address is known for ${whereName(where)}`, {
      hint: `petstock config set-url 'https://<your-store>/v1' ${whereOptions(where)}`,
    });
  }
  const found = resolveKey(environment, context.env, config);
  if (found === undefined) {
    throw new AuthError(`No API key is known for ${whereName(where)}`, {
      hint: `petstock config set-key ${whereOptions(where)}`,
    });
  }
  requireKeyOfOrigin(environment, found, url, config);
  const service = serviceOf(url.value);
  const network = await networkFor(url.value, { context, settings: config.settings, messages, writes });
  const key = await keyOf(found, options, `petstock config set-key ${whereOptions(where)}`);
  const { origin } = new URL(service);
  return { baseUrl: url.value, key, service, origin, network, close: async () => {} };
}

/** Returns the words of a key helper, visibly foreign, without anything that may be a key. */
function helperLines(line: string, width: number): string[] {
  const words = line.split(' ').map((word) => (looksLikeKey(word) ? '[not shown]' : word));
  const text = words.join(' ');
  const lines = width === Number.POSITIVE_INFINITY ? [text] : wrap(text, Math.max(1, width - 2));
  return lines.map((part) => `│ ${part}`);
}

/** The key itself. A command that prints it is run once a command, since a connection is made once. */
async function keyOf(key: Resolved | PrintedKey, { context, messages }: ConnectOptions, hint: string): Promise<string> {
  if (!('command' in key)) return key.value;
  // Late: few keys come from a command.
  const { runKeyCommand } = await import('../../settings/run-key-command.ts');
  const { env, clock, interrupted } = context;
  return runKeyCommand(key.command, {
    env,
    clock,
    interrupted,
    hint,
    onMessage: (line) => void messages.show((_paint, width) => helperLines(line, width), { always: true }),
  });
}
