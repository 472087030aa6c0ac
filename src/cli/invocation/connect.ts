import { type Client, createClient } from '../../api/client.ts';
import type { HttpRequest, HttpResponse, Transport, TransportOptions } from '../../api/transport.ts';
import { scopeOf } from '../../rate-limit/key-state.ts';
import { Limits } from '../../rate-limit/limits.ts';
import { limitsInMemory } from '../../rate-limit/limits-row.ts';
import { defaultMaxWait, defaultRetries } from '../../rate-limit/waits.ts';
import type { ConfigFile } from '../../settings/config-file.ts';
import { maskKey, serviceNameOf, withoutKeys } from '../../settings/key-and-url.ts';
import { resolveProxy } from '../../settings/proxy.ts';
import {
  type PrintedKey,
  requireKeyOfOrigin,
  requireKnownStore,
  resolveBaseUrl,
  resolveKey,
} from '../../settings/resolve.ts';
import type { RemoteEnvironmentName, StoredSettings } from '../../settings/settings.ts';
import type { Sourced } from '../../settings/variables.ts';
import type { Clock } from '../../shared/clock.ts';
import { AuthError, FailureError, PetstockError, UnavailableError, UsageError } from '../../shared/errors.ts';
import { type EnvironmentName, petstock, targetName, targetWords } from '../../shared/hint.ts';
import { sentence } from '../../shared/parsed.ts';
import { redactorOf, stripControls } from '../../shared/sanitize.ts';
import { version } from '../../shared/version.ts';
import type { History } from '../../state/history.ts';
import { OtherVersionError } from '../../state/schema.ts';
import type { Store } from '../../state/state-store.ts';
import type { RunContext } from '../../writes/carry-out.ts';
import type { Context } from '../context.ts';
import { type GlobalOptions, type ResolvedTarget, targetOf } from './globals.ts';
import { logLine, type Messages } from './messages.ts';
import { gatesOf, historyOf, removeOldRuns, stateOptions, userOf } from './state-access.ts';

export interface ConnectionUse {
  /**
   * Whether this is a bulk run. A bulk run leaves a small part of the limit to interactive commands and, without
   * `--max-wait`, waits for any number of minute windows.
   */
  readonly bulk?: boolean;
  /** Whether the command changes stock and therefore needs a working history. */
  readonly writes?: boolean;
  /** Whether a person who reads the result is shown the target; one that a command writes to is always shown. */
  readonly isShown?: boolean;
}

/** An open connection to one service: a client that keeps to the limits of its key. */
export interface ServiceConnection extends Omit<RunContext, 'state' | 'history' | 'client'> {
  readonly client: Client;
  readonly limits: Limits;
  /** Undefined if the state can't be used. The command then only reads, and its limits are those of this process. */
  readonly state: Store | undefined;
  readonly history: History | undefined;
  readonly env: EnvironmentName;
  /** The name of one of several stores; undefined for the store without a name. */
  readonly store: string | undefined;
  /** The key, masked except for its last 4 characters. */
  readonly maskedKey: string;
  /** Reports whether a request other than a GET was sent, so that something may have changed. */
  hasSentWrite(): boolean;
  close(): Promise<void>;
}

/** A connection of a command that writes. */
export type WriteConnection = ServiceConnection & RunContext;

export interface ConnectOptions {
  readonly context: Context;
  readonly globals: GlobalOptions;
  readonly configFile: ConfigFile;
  readonly messages: Messages;
}

/** Default timeout of one request, in milliseconds. */
const defaultTimeout = 30_000;

interface Endpoint {
  readonly baseUrl: string;
  readonly key: string;
  readonly service: string;
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
    const { timeout = defaultTimeout, retries = defaultRetries } = globals;
    const { baseUrl, key, service } = endpoint;
    const scope = scopeOf(endpoint.origin, key);
    const { transport, ...watched } = transportFor(options, endpoint.network);
    const { clock, interrupted, random, suspension, self } = context;
    const store = resolved.store?.value;
    const state = await openedState(options, resolved, use);
    const limits = limitsFor(options, resolved, use, { state, scope });
    const client = createClient({
      ...{ baseUrl, key, transport, clock, interrupted, random, timeout, retries },
      limits,
      userAgent: `petstock/${version}`,
      onRetry: ({ reason, attempt, of }) => messages.delayed(`${reason}, trying again (${attempt} of ${of})`, attempt),
    });
    const history = state && (await historyOf(state, context));
    const isTerminal = context.stderr.isTerminal;
    return {
      ...{ env, store, target: { env, store }, baseUrl, maskedKey: maskKey(key), scope, service },
      ...{ timeout, retries, clock, interrupted, suspension, random, user: userOf(context.env), ...self },
      ...{ client, limits, state, history, ...watched },
      turnWait: { most: globals.maxWait ?? defaultMaxWait, silent: isTerminal ? 2000 : 10_000 },
      // The sandbox is a single server: an older stock there comes from a reset.
      mayLag: env !== 'sandbox',
      onDelay: (sentence: string, attempt?: number) => messages.delayed(sentence, attempt),
      onWaitForOthers: (sentence: string, ms?: number) => messages.waitingForOthers(sentence, ms),
      // Each step runs even if the one before it fails, because open connections would keep the process from ending.
      close: () =>
        limits
          .save()
          // What the service has told is worth no failure of a command that has done its work.
          .catch(() => {})
          .then(() =>
            use.writes && history !== undefined ? removeOldRuns(history, { ...options, ...resolved }) : undefined,
          )
          .then(() => state?.close())
          .finally(() => endpoint.close()),
    };
  } catch (error) {
    await endpoint.close();
    throw error;
  }
}

/** Opens the state. @returns undefined, with a warning, if it can't be used and the command only reads */
async function openedState(
  options: ConnectOptions,
  resolved: ResolvedTarget,
  { writes = false }: ConnectionUse,
): Promise<Store | undefined> {
  const { context, messages } = options;
  // Loaded late, because the database engine takes a while to load.
  const openState = context.openState ?? (await import('../../state/open-state.ts')).openState;
  try {
    return await openState(stateOptions({ ...options, ...resolved }));
  } catch (error) {
    const mayGoOn =
      error instanceof UnavailableError || (error instanceof FailureError && !(error instanceof OtherVersionError));
    if (writes && error instanceof PetstockError) throw error.with({ message: `${error.message}. Nothing was sent` });
    if (!mayGoOn) throw error;
    await messages.warn(`${sentence(error.message)} Other commands do not know of the requests of this one`);
    return undefined;
  }
}

function limitsFor(
  { context, globals, messages }: ConnectOptions,
  resolved: ResolvedTarget,
  { bulk = false }: ConnectionUse,
  { state, scope }: { readonly state: Store | undefined; readonly scope: string },
): Limits {
  const { clock, random } = context;
  const { timeout = defaultTimeout, maxWait = defaultMaxWait } = globals;
  return new Limits({
    ...{ store: state ?? limitsInMemory(clock), gates: gatesOf(context), clock, random, scope, maxWait },
    target: targetName(targetOf(resolved)),
    isBulk: bulk,
    // A bulk run may span any number of minute windows, unless `--max-wait` is given.
    isBoundPerWait: bulk && globals.maxWait === undefined,
    permitLifetime: timeout + 1000,
    onWait: (ms, reason) => messages.waiting(ms, reason),
    warn: (line) => void messages.warn(line),
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
  return { baseUrl: url, key, service: 'sandbox', origin: 'sandbox', network: {}, close };
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
    if (store !== undefined) requireKnownStore(store, context.env, configFile);
    throw new UsageError(`No service address is set for ${targetName(target)}`, {
      hint: petstock`config set-url 'https://<your-store>/v1' ${targetWords(target)}`,
    });
  }
  const hint = petstock`config set-key ${targetWords(target)}`;
  const found = resolveKey(environment, context.env, config);
  if (found === undefined) throw new AuthError(`No API key is set for ${targetName(target)}`, { hint });
  requireKeyOfOrigin(environment, found, url, config);
  const service = serviceNameOf(url.value);
  const network = await networkFor(url.value, { context, settings: config.settings, messages, writes });
  const key = await keyOf(found, options, hint);
  const { origin } = new URL(service);
  return { baseUrl: url.value, key, service, origin, network, close: async () => {} };
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

interface NetworkUse {
  readonly context: Context;
  readonly settings: StoredSettings;
  readonly messages: Messages;
  readonly writes: boolean;
}

/**
 * Returns the proxy and the trusted authorities for a service.
 * @throws UsageError if they can't be used, or if certificates are not checked and the command writes
 */
async function networkFor(baseUrl: string, use: NetworkUse): Promise<TransportOptions> {
  await requireCertificateCheck(use);
  const { env } = use.context;
  const proxy = resolveProxy(baseUrl, env);
  const caFile = use.settings['ca-file'];
  if (caFile === undefined || !baseUrl.startsWith('https:')) return { proxy };
  // Loaded late, because Node's TLS module takes a while to load.
  const { authoritiesWith } = await import('../../settings/authorities.ts');
  return { proxy, ca: await authoritiesWith(caFile, env) };
}

/**
 * Warns if certificates are not checked. Node's own warning can be switched off and does not mention the key.
 * @throws UsageError before a write if certificates are not checked
 */
async function requireCertificateCheck({ context, messages, writes }: NetworkUse): Promise<void> {
  if (context.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  const fact = 'NODE_TLS_REJECT_UNAUTHORIZED=0 switches off the certificate check';
  const instead = "petstock config set ca-file '<file>'";
  if (writes) {
    throw new UsageError(`${fact}. Nothing was sent. To write, unset it`, { hint: instead });
  }
  await messages.warn(`${fact}: anyone on the network can read the key and impersonate the service`);
}

/** After this many milliseconds a response counts as slow. */
const slowAfter = 1000;

/**
 * Wraps a transport so that it remembers whether a request other than a GET was sent.
 * @param onSlow receives a message if a response takes longer than a second
 */
function watchAnswers(transport: Transport, clock: Clock, onSlow: (line: string) => void) {
  let hasSentWrite = false;
  const watched: Transport = async (request) => {
    hasSentWrite ||= request.method !== 'GET';
    const deadline = clock.deadline(slowAfter, () => onSlow(waitingText(request)));
    try {
      return await transport(request);
    } finally {
      deadline.clear();
    }
  };
  return { transport: watched, hasSentWrite: () => hasSentWrite };
}

function waitingText({ method, url }: HttpRequest): string {
  const { origin, pathname } = new URL(url);
  return `Waiting for ${origin} to respond to ${method} ${pathname.replace(/^.*\/v1(?=\/)/, '')}…`;
}

/** The headers that `--debug` shows. Any other header may contain a key. */
const shownHeaders = [
  'content-type',
  'content-length',
  'content-encoding',
  'date',
  'deprecation',
  'location',
  'retry-after',
  'sunset',
  'user-agent',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-request-id',
];

interface DebugEvent {
  readonly event: 'request' | 'response' | 'failure';
  readonly method: string;
  readonly url: string;
  readonly status?: number;
  /** Milliseconds since the request was sent. */
  readonly ms?: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function debugTransport(
  transport: Transport,
  clock: Clock,
  log: (line: string) => void,
  form: 'text' | 'json',
): Transport {
  return async (request) => {
    const { method, url } = request;
    // The URL may contain the key. Other output hides a key only once a request was sent with it.
    const redact = redactorOf([request.headers.authorization?.replace(/^Bearer /, '') ?? '']);
    const show = (event: DebugEvent) => {
      const { event: name, ...facts } = event;
      log(redact(form === 'json' ? logLine(clock.now(), name, facts) : lineOf(event)));
    };
    const sentAt = clock.monotonic();
    const took = () => Math.round(clock.monotonic() - sentAt);
    show({ event: 'request', method, url, headers: shown(request.headers) });
    try {
      const response = await transport(request);
      const { status } = response;
      show({ event: 'response', method, url, status, ms: took(), headers: shown(response.headers) });
      return response;
    } catch (error) {
      show({ event: 'failure', method, url, ms: took(), message: (error as Error).message });
      throw error;
    }
  };
}

function lineOf({ event, method, url, status, ms, message, headers = {} }: DebugEvent): string {
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const end = message ?? named.join('; ');
  if (event === 'request') return `> ${method} ${url} ${end}`;
  return `< ${status ?? 'failed'} ${method} ${url} ${ms} ms ${end}`;
}

function shown(headers: HttpResponse['headers']): Record<string, string> {
  const present = shownHeaders.filter((name) => headers[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, [headers[name]].flat().join(', ')]));
}
