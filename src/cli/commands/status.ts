import { grouped } from '../../inventory/items.ts';
import { isoTime, localTime } from '../../output/time.ts';
import { factsView, type Row, type View } from '../../output/view.ts';
import { maskKey, serviceNameOf } from '../../settings/key-and-url.ts';
import { resolveProxy } from '../../settings/proxy.ts';
import { describeShadows, knownKey, resolveBaseUrl, resolveKey } from '../../settings/resolve.ts';
import type { Environment } from '../../settings/variables.ts';
import { AuthError, FailureError, PetstockError, UnavailableError } from '../../shared/errors.ts';
import { petstock, targetWords } from '../../shared/hint.ts';
import { plainName } from '../../shared/sanitize.ts';
import type { ServiceConnection } from '../invocation/connect.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { define } from './command.ts';

export const statusCommand = define({
  summary: 'check the environment, its address and its key',
  group: 'Service and setup',
  description:
    'Shows the environment, its address, where its key comes from, and whether the service responds and accepts the ' +
    'key. Sends one request.',
  options: [['--offline', 'send nothing']],
  examples: [['petstock status'], ['petstock status --env production --json']],
  run: async function* (invocation, { offline }) {
    for (const line of describeShadows(invocation.context.env, invocation.config)) await invocation.messages.warn(line);
    const zone = unreadableZone(invocation.context.env);
    if (zone !== undefined) {
      await invocation.messages.warn(`TZ=${zone} can't be read, so times are in UTC. Use a name such as Europe/Berlin`);
    }
    const rateLimit = await rememberedLimits(invocation);
    const report = { ...describeSettings(invocation), reachable: null, keyAccepted: null, rateLimit };
    const { findings = {}, error } = offline ? {} : await probe(invocation);
    yield statusView({ ...report, ...findings }, invocation.context.clock.now());
    if (offline) return;
    if (error !== undefined) throw withHint(error, invocation, report);
    invocation.connections.hasShownRateLimit = invocation.context.stdout.isTerminal;
  },
});

/** Returns the time zone of TZ if the runtime knows no such name, such as the POSIX rule `CET-1CEST`. */
function unreadableZone({ TZ = '' }: Environment): string | undefined {
  const zone = TZ.replace(/^:/, '');
  if (zone === '') return undefined;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return undefined;
  } catch {
    return plainName(zone);
  }
}

/** A null value is not known or not set. If `proxy` is null, the connection is direct. */
interface StatusReport extends ReturnType<typeof describeSettings> {
  readonly reachable: boolean | null;
  readonly keyAccepted: boolean | null;
  readonly rateLimit: (Record<'limit' | 'remaining', bigint | number> & { readonly resetAt: string }) | null;
}

function describeSettings({ environment, store, context, config }: Invocation) {
  const env = environment.value;
  const isSandbox = env === 'sandbox';
  const url = isSandbox ? undefined : resolveBaseUrl(env, context.env, config);
  const key = isSandbox ? undefined : resolveKey(env, context.env, config);
  const proxy = url && resolveProxy(url.value, context.env);
  return {
    store: store?.value ?? null,
    storeSource: store?.source ?? null,
    env,
    envSource: environment.source,
    url: url?.value ?? null,
    urlSource: isSandbox ? 'a free port for each command' : (url?.source ?? null),
    // A key that a command prints is not known here, because the command has not run yet.
    key: key === undefined ? null : 'command' in key ? `printed by: ${key.command.command}` : maskKey(key.value),
    keySource: isSandbox ? 'created by the sandbox' : (key?.source ?? null),
    proxy: proxy?.shown ?? null,
    proxySource: proxy?.source ?? null,
  };
}

/**
 * Returns the window of this key that the service reported last, without a request. Null if none is known, if a command
 * prints the key, and for the sandbox.
 */
async function rememberedLimits(invocation: Invocation): Promise<StatusReport['rateLimit']> {
  const { environment, context, config } = invocation;
  if (environment.value === 'sandbox') return null;
  const url = resolveBaseUrl(environment.value, context.env, config);
  const key = knownKey(resolveKey(environment.value, context.env, config));
  if (url === undefined || key === undefined) return null;
  const [{ knownLimits }, { scopeOf }, { lastKnownKeys }] = await Promise.all([
    import('../../rate-limit/known-limits.ts'),
    import('../../rate-limit/key-state.ts'),
    import('../invocation/state-access.ts'),
  ]);
  const scope = scopeOf(new URL(serviceNameOf(url.value)).origin, key.value);
  const known = (await lastKnownKeys(invocation)).find((each) => each.scope === scope);
  const [window] = known === undefined ? [] : knownLimits(known.state, context.clock.now());
  return window ? { limit: window.limit, remaining: window.remaining, resetAt: isoTime(window.resetAt) } : null;
}

/** Sends one request. Returns its error instead of throwing it, because the report is printed first. */
async function probe(invocation: Invocation): Promise<{ findings: Partial<StatusReport>; error?: PetstockError }> {
  let connection: ServiceConnection | undefined;
  const seen = () => {
    if (connection === undefined) return {};
    const found = { url: connection.baseUrl, key: connection.maskedKey };
    if (connection.limits.lastSeen === undefined) return found;
    const { limit, remaining, resetAt } = connection.limits.lastSeen;
    return { ...found, rateLimit: { limit, remaining, resetAt: isoTime(resetAt) } };
  };
  try {
    connection = await invocation.connections.connect();
    // Reads the start of the list, because the login page of a network also returns 200. The rest is not needed.
    for await (const _items of connection.client.scanInventory()) break;
    return { findings: { reachable: true, keyAccepted: true, ...seen() } };
  } catch (thrown) {
    if (!(thrown instanceof PetstockError)) throw thrown;
    // Without a connection nothing was sent, so the error tells nothing about the service.
    const judged = connection === undefined ? {} : judge(thrown);
    return { findings: { ...judged, ...seen() }, error: thrown };
  }
}

/**
 * Adds a hint to an error about the connection or the address, unless the error has one or is about the sandbox. The
 * hint of other commands is `petstock status`; `status` itself suggests how to check or change the address.
 */
function withHint(error: PetstockError, { target }: Invocation, report: StatusReport): PetstockError {
  const isOfAddress = error instanceof UnavailableError || error.status === 404;
  if (error.hint !== undefined || target.env === 'sandbox' || !isOfAddress) return error;
  const options = targetWords(target);
  const isStored = report.urlSource === 'config file';
  const hint = isStored ? petstock`config set-url 'https://<your-store>/v1' ${options}` : 'petstock config list';
  return error.with({ hint });
}

function judge(error: PetstockError): Pick<StatusReport, 'reachable' | 'keyAccepted'> {
  if (error instanceof AuthError && error.status === 401) return { reachable: true, keyAccepted: false };
  // Something responded, but it was not the service.
  if (error instanceof FailureError) return { reachable: false, keyAccepted: null };
  if (error instanceof UnavailableError) return { reachable: error.status !== undefined, keyAccepted: null };
  return { reachable: error.status === undefined ? null : true, keyAccepted: null };
}

/**
 * Returns a view with one value per line in a table, one row in CSV and TSV, and one object in JSON.
 */
function statusView(report: StatusReport, now: number): View {
  const { rateLimit } = report;
  const rowsWith = (limits: string | null) => [
    ...(report.store === null ? [] : [row('store', report.store, report.storeSource)]),
    row('environment', report.env, report.envSource),
    row('url', report.url ?? 'not set', report.urlSource),
    row('key', report.key ?? (report.env === 'sandbox' ? 'set' : 'not set'), report.keySource),
    ...(report.proxy === null ? [] : [row('proxy', report.proxy, report.proxySource)]),
    row('reachable', yesNo(report.reachable)),
    row('key accepted', yesNo(report.keyAccepted)),
    row('rate limit', limits ?? 'not known'),
  ];
  // A person reads local times.
  const forPeople =
    rateLimit &&
    `${grouped(rateLimit.remaining)} of ${grouped(rateLimit.limit)} left, resets at ${localTime(Date.parse(rateLimit.resetAt), now)}`;
  const { rateLimit: _, ...facts } = report;
  const known = { ...facts, accepted: report.keyAccepted };
  const flat: Row = { ...known, ...(rateLimit ?? { limit: null, remaining: null, resetAt: null }) };
  return factsView(flat, rowsWith(forPeople), { ...known, rateLimit });
}

function row(name: string, value: string, source: string | null = null): Row {
  return { name, value, source };
}

function yesNo(value: boolean | null): string {
  return value === null ? 'not known' : value ? 'yes' : 'no';
}
