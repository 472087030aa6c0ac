import { randomBytes } from 'node:crypto';
import { type Client, createClient } from '../../api/client.ts';
import type { Transport } from '../../api/transport.ts';
import { createGovernor } from '../../rate-limit/admission.ts';
import type { Governor } from '../../rate-limit/governor.ts';
import { ledgerFolder } from '../../rate-limit/known-limits.ts';
import { createFileLedger } from '../../rate-limit/ledger-file.ts';
import { scopeOf } from '../../rate-limit/scope.ts';
import { maskKey } from '../../settings/keys.ts';
import { resolveBaseUrl, resolveKey } from '../../settings/resolve.ts';
import type { EnvironmentName, StoredConfig } from '../../settings/settings.ts';
import { AuthError, UsageError } from '../../shared/errors.ts';
import { version } from '../../shared/version.ts';
import type { Context } from '../context.ts';

/** A client, what it talks to, and what has to be closed behind it. */
export interface Connection {
  readonly client: Client;
  readonly environment: EnvironmentName;
  readonly baseUrl: string;
  readonly governor: Governor;
  /** Masked to its last 4 characters. */
  readonly maskedKey: string;
  /** A hash that stands for the service and the key. */
  readonly scope: string;
  /** The origin of the service, or `sandbox`, whose origin changes with every start. */
  readonly service: string;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly context: Context;
  readonly environment: EnvironmentName;
  readonly config: StoredConfig;
  /** In milliseconds, for one request. */
  readonly timeout: number;
  /** In milliseconds, for all waits of the command, or for one of them. */
  readonly maxWait: number;
  readonly maxWaitFor: 'all' | 'wait';
  /** Leaves a small part of the limit to people. */
  readonly bulk: boolean;
  /** Wraps the transport, to show requests with `--debug`. */
  wrap(transport: Transport): Transport;
  onWait(ms: number): void;
  /** Told before a request is sent again. */
  onRetry(line: string): void;
  warn(line: string): void;
}

/** Where requests go and with which key. */
interface Target {
  readonly baseUrl: string;
  readonly key: string;
  /** What the key's limits are remembered under: the origin, which for the sandbox would change with every start. */
  readonly service: string;
  close(): Promise<void>;
}

/** @throws UsageError without a base URL, AuthError without a key; each names the command that sets it */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { context, environment } = options;
  const target = environment === 'sandbox' ? await sandboxTarget(options) : remoteTarget(environment, options);
  const { baseUrl, key } = target;
  const scope = scopeOf(target.service, key);
  const { pid, isAlive } = context.processes;
  const unique = `${pid}.${randomBytes(6).toString('hex')}`;
  const ledger = createFileLedger({
    folder: ledgerFolder(context.folders.state),
    scope,
    unique,
    onFallback: ({ message }) =>
      options.warn(`the rate limit can't be shared with other commands, so requests go one at a time: ${message}`),
  });
  const random = context.random;
  const { clock, interrupted } = context;
  const lease = options.timeout + 1000;
  const governor = createGovernor({ clock, ledger, unique, isAlive, lease, random, env: environment, ...options });
  const transport = options.wrap(context.transport);
  const userAgent = `petstock/${version}`;
  const { timeout } = options;
  const { onRetry } = options;
  const sending = { transport, governor, clock, interrupted, random, timeout, onRetry };
  const client = createClient({ baseUrl, key, userAgent, ...sending });
  const { close } = target;
  return { client, environment, baseUrl, governor, maskedKey: maskKey(key), scope, service: target.service, close };
}

async function sandboxTarget({ context, warn }: ConnectOptions): Promise<Target> {
  const { narrowSandbox, startSandbox } = await import('../sandbox.ts');
  for (const warning of narrowSandbox(context.folders.state)) warn(warning);
  const service = await startSandbox(context);
  return { baseUrl: service.url, key: service.key, service: 'sandbox', close: service.close };
}

function remoteTarget(environment: 'staging' | 'production', { context, config }: ConnectOptions): Target {
  const url = resolveBaseUrl(environment, context.env, config);
  if (url === undefined) {
    throw new UsageError(`No address is known for ${environment}`, {
      hint: `petstock config set-url https://<your-store>/v1 --env ${environment}`,
    });
  }
  const key = resolveKey(environment, context.env, config);
  if (key === undefined) {
    throw new AuthError(`No API key is known for ${environment}`, {
      hint: `petstock config set-key --env ${environment}`,
    });
  }
  return { baseUrl: url.value, key: key.value, service: new URL(url.value).origin, close: async () => {} };
}
