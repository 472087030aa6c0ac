import { isIP } from 'node:net';
import { parseQuantity } from '../../../inventory/values.ts';
import type { ServiceOptions } from '../../../service/index.ts';
import { namesSeveralHosts, parseDatabaseUrl } from '../../../shared/database-url.ts';
import { UsageError } from '../../../shared/errors.ts';
import { oneOf, required, requireFileName } from '../values.ts';
import { count, limitsOf, planOf } from './numbers.ts';
import type { ServeValues } from './serve-values.ts';

/** Where `sandbox serve` listens by default. */
export const defaultPort = 4010;

const help = { hint: 'petstock sandbox serve --help' };

/** Longer than Node's timers can wait: no server is to be given it. */
const mostSeconds = 2_000_000;

type ParsedOptions = Omit<ServiceOptions, 'key' | 'clock' | 'stock' | 'log'>;

const fileOptions = ['file', 'import', 'key-file', 'tls-cert', 'tls-key'] as const;

/** @throws UsageError for the first option that makes no sense */
export function parseOptions(values: ServeValues): ParsedOptions {
  refuseContradictions(values);
  for (const option of fileOptions) {
    const file = values[option];
    if (file !== undefined) requireFileName(file, `--${option}`);
  }
  const min = quantity('--min-quantity', values['min-quantity']);
  const max = quantity('--max-quantity', values['max-quantity']);
  return present({
    port: count('--port', values.port, 0, 65_535) ?? defaultPort,
    host: values.host,
    file: values.database === undefined ? fileOf(values) : undefined,
    database: values.database === undefined ? undefined : databaseOf(values.database),
    pets: count('--pets', values.pets, 0, 100_000_000),
    seed: count('--seed', values.seed, 0),
    ids: values.ids === undefined ? undefined : oneOf('--ids', values.ids, ['large', 'small'] as const),
    plan: values.plan === undefined ? undefined : planOf(values.plan),
    limits: limitsOf({ limitMinute: values['limit-minute'], limitDay: values['limit-day'] }),
    windowSeconds: count('--window-seconds', values['window-seconds'], 1, 86_400),
    ban: banOf(values),
    addressLimit:
      values['no-address-limit'] === true ? (false as const) : count('--address-limit', values['address-limit'], 0),
    quantityBounds: boundsOf(min, max),
    faults: values.fault,
    adminPort: count('--admin-port', values['admin-port'], 0, 65_535),
    adminHost: values['admin-host'],
    adminToken: values['admin-token'] === undefined ? undefined : secretOf('--admin-token', values['admin-token']),
    tls: tlsOf(values),
    trustProxy: values['trust-proxy']?.map(networkOf),
    keepAliveSeconds: count('--keep-alive', values['keep-alive'], 1, mostSeconds),
    cors: values.cors?.map(originOf),
  });
}

/** How long `/readyz` fails before the server stops listening, in milliseconds. */
export function drainOf(values: ServeValues): number {
  return (count('--drain', values.drain, 0, 3_600) ?? 0) * 1000;
}

/** 16 to 128 visible ASCII characters. @throws UsageError that does not repeat it */
export function secretOf(option: string, text: string): string {
  if (/^[!-~]{16,128}$/.test(text)) return text;
  throw new UsageError(`${option} must have 16 to 128 visible ASCII characters`);
}

/** The address of a PostgreSQL, or of its servers. @throws UsageError that does not repeat it: it may hold a password */
export function databaseOf(text: string): string {
  if (!/^postgres(ql)?:\/\/\S+$/.test(text)) {
    throw new UsageError('--database takes an address such as postgres://user@host:5432/name?sslmode=verify-full');
  }
  const parsed = parseDatabaseUrl(text);
  // The driver knows parameters that we don't, and no lists of hosts.
  if (!parsed.ok && namesSeveralHosts(text)) throw new UsageError(`--database cannot be used: ${parsed.fault}`);
  return text;
}

function refuseContradictions(values: ServeValues): void {
  const refuse = (message: string) => {
    throw new UsageError(message, help);
  };
  if (values.database !== undefined && values.file !== undefined) {
    refuse('--file and --database cannot be used together; leave one out');
  }
  if (values.database !== undefined && values.fault !== undefined) {
    refuse(
      '--fault is for one server, and servers on a database share their faults; add them with POST /faults on --admin-port',
    );
  }
  if (values.key !== undefined && values['key-file'] !== undefined) {
    refuse('--key and --key-file cannot be used together; leave one out');
  }
  if (values.import !== undefined && (values.pets ?? values.seed ?? values.ids) !== undefined) {
    refuse('--import brings a stock along; leave --pets, --seed and --ids out');
  }
  for (const option of ['admin-token', 'admin-host'] as const) {
    if (values[option] !== undefined && values['admin-port'] === undefined) {
      refuse(`--${option} has no effect without --admin-port`);
    }
  }
}

/**
 * What an option says about the stock, the key or the windows is of this server alone, so that it does not last in the
 * sandbox: without a file that keeps it, all of it is in memory.
 */
function fileOf(values: ServeValues): string | undefined {
  const isOwn = ownOptions.some((name) => values[name] !== undefined) || values['no-ban'] === true;
  return values.file ?? (isOwn ? ':memory:' : undefined);
}

const ownOptions = [
  'pets',
  'seed',
  'ids',
  'import',
  'key',
  'key-file',
  'plan',
  'limit-minute',
  'limit-day',
  'window-seconds',
  'ban-strikes',
  'ban-seconds',
] as const;

function banOf(values: ServeValues) {
  if (values['no-ban'] === true) return false as const;
  return {
    strikes: count('--ban-strikes', values['ban-strikes'], 0) ?? 10,
    seconds: count('--ban-seconds', values['ban-seconds'], 1) ?? 300,
  };
}

function tlsOf({ 'tls-cert': cert, 'tls-key': key }: ServeValues): ServiceOptions['tls'] {
  if (cert === undefined && key === undefined) return undefined;
  if (cert !== undefined && key !== undefined) return { cert, key };
  throw new UsageError(
    `--tls-cert and --tls-key go together; ${cert === undefined ? '--tls-cert' : '--tls-key'} is missing`,
  );
}

function networkOf(text: string): string {
  const [address = '', bits] = text.split('/');
  const most = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) !== 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))) return text;
  throw new UsageError(`--trust-proxy takes a network such as 10.0.0.0/8; not "${text}"`);
}

function originOf(text: string): string {
  if (text === '*' || (URL.canParse(text) && new URL(text).origin === text)) return text;
  throw new UsageError(`--cors takes an origin such as https://shop.example, or *; not "${text}"`);
}

function quantity(option: string, text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(required(parseQuantity(text), option));
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The object without its undefined values. */
function present<T extends object>(object: T): Present<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Present<T>;
}

function boundsOf(min: bigint | undefined, max: bigint | undefined) {
  if (min !== undefined && max !== undefined && min > max) {
    throw new UsageError('--min-quantity is larger than --max-quantity, so no quantity would be accepted');
  }
  return present({ min, max });
}
