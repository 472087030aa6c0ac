import { isIP } from 'node:net';
import type { Command } from 'commander';
import { parseQuantity } from '../../../inventory/values.ts';
import { namesSeveralHosts, parseDatabaseUrl } from '../../../shared/database-url.ts';
import { UsageError } from '../../../shared/errors.ts';
import { collect, oneOf, required, requireFileName } from '../values.ts';
import { count, planOf, plans } from './numbers.ts';

/** Where `sandbox serve` listens by default. */
export const defaultPort = 4010;

/** Longer than Node's timers can wait: no server is to be given it. */
const mostSeconds = 2_000_000;

const day = 86_400;

export type Read<Value> = (text: string, option: string) => Value;

interface One<Value> {
  readonly value: string;
  readonly about: string;
  readonly read: Read<Value>;
}

/** An option with a value. */
function one<Value>(value: string, about: string, read: Read<Value>): One<Value> {
  return { value, about, read };
}

/** An option that may be given several times; in a variable its values stand between commas. */
function many<Value>(value: string, about: string, read: Read<Value>, separator = /[\s,]+/) {
  return { value, about: `${about}; may be given again`, read, separator };
}

const whole = (least: number, most?: number) => (text: string, option: string) => count(option, text, least, most);
const text: Read<string> = (given) => given;
const quantity: Read<bigint> = (given, option) => BigInt(required(parseQuantity(given), option));
const file: Read<string> = (given, option) => {
  requireFileName(given, option);
  return given;
};

/** The options by name, once: `--admin-port` on the command line, `PETSTOCK_SERVE_ADMIN_PORT` as a variable. */
export const options = {
  file: one(
    'path',
    'database file; :memory: keeps nothing (default: that of --env sandbox, or :memory: with options of its own)',
    file,
  ),
  database: one(
    'url',
    'a PostgreSQL instead of a file, for several servers: postgres://user@host:5432/name',
    databaseOf,
  ),
  import: one('file', 'stock of a new store: CSV or JSON, as `sandbox import` reads it', file),
  pets: one('n', 'how many pets a new stock has (default: 24)', whole(0, 100_000_000)),
  seed: one('n', 'seed of a new stock; the same seed gives the same stock (default: 1)', whole(0)),
  ids: one(
    'kind',
    'large: some ids are beyond 2^53; small: none is, for tools that keep 53 bits (default: large)',
    (given, option) => oneOf(option, given, ['large', 'small'] as const),
  ),
  key: one(
    'value',
    'the key, 16 to 128 visible ASCII characters; other users of this machine can see it (default: that of the sandbox)',
    secretOf,
  ),
  'key-file': one('file', 'file of the key, made if it is missing; the key is then shown nowhere', file),
  'min-quantity': one('n', 'smallest quantity that is accepted (default: none)', quantity),
  'max-quantity': one('n', 'largest quantity that is accepted (default: none)', quantity),
  plan: one('plan', `${plans.join(', ')} (default: business)`, planOf),
  'limit-minute': one('n', 'requests per minute, for an enterprise key', text),
  'limit-day': one('n', 'requests per day, for an enterprise key', text),
  'window-seconds': one('n', 'length of a minute, for tests (default: 60)', whole(1, day)),
  'no-ban': 'never ban a key',
  'ban-strikes': one('n', 'refused requests in a minute before a ban (default: 10)', whole(0)),
  'ban-seconds': one('n', 'length of a ban (default: 300)', whole(1)),
  'address-limit': one('n', 'requests without a valid key per minute and address (default: 600)', whole(0)),
  'no-address-limit': 'answer 401 to any number of them',
  port: one('n', `port; 0 takes a free one (default: ${defaultPort})`, whole(0, 65_535)),
  host: one('address', 'address to listen on (default: 127.0.0.1)', text),
  expose: 'allow a --host or --admin-host that other machines reach',
  'tls-cert': one('file', 'certificate with its chain, PEM; read again at SIGHUP', file),
  'tls-key': one('file', 'its key, PEM', file),
  'trust-proxy': many('cidr', 'network whose X-Forwarded-For is believed', networkOf),
  'keep-alive': one('seconds', 'how long an idle connection is kept (default: 75)', whole(1, mostSeconds)),
  cors: many('origin', 'web page that may call it, or *', originOf),
  'admin-port': one('n', 'a port for probes, metrics, stock and keys; 0 takes a free one', whole(0, 65_535)),
  'admin-host': one('address', 'address of that port (default: loopback)', text),
  'admin-token': one('token', 'bearer token of that port (default: a new one)', secretOf),
  'metrics-token': one(
    'token',
    'bearer token of its /metrics (default: none on loopback, else that of the port)',
    secretOf,
  ),
  drain: one('seconds', 'how long /readyz fails before it stops listening (default: 0)', whole(0, 3_600)),
  log: 'one JSON line per request and event on stderr; never the key',
  fault: many('spec', 'a fault to inject, for people who test clients', text, /\n/),
  'test-controls': 'let --admin-port change faults and the clock and show the requests, for people who test clients',
} as const;

type Options = typeof options;
export type Name = keyof Options;

/** What each option is set to; absent if nothing says so. */
export type ServeValues = {
  readonly [Each in Name]?: Options[Each] extends string
    ? true
    : Options[Each] extends { separator: RegExp; read: Read<infer Value> }
      ? readonly Value[]
      : Options[Each] extends One<infer Value>
        ? Value
        : never;
};

export const optionNames = Object.keys(options) as Name[];

export function addServeOptions(command: Command): void {
  for (const name of optionNames) {
    const option = options[name];
    if (typeof option === 'string') command.option(`--${name}`, option);
    else if ('separator' in option) command.option(`--${name} <${option.value}>`, option.about, collect);
    else command.option(`--${name} <${option.value}>`, option.about);
  }
}

/** 16 to 128 visible ASCII characters. @throws UsageError that does not repeat it */
export function secretOf(given: string, option: string): string {
  if (/^[!-~]{16,128}$/.test(given)) return given;
  throw new UsageError(`${option} must have 16 to 128 visible ASCII characters`);
}

/** The address of a PostgreSQL, or of its servers. @throws UsageError that does not repeat it: it may hold a password */
export function databaseOf(given: string): string {
  if (!/^postgres(ql)?:\/\/\S+$/.test(given)) {
    throw new UsageError('--database takes an address such as postgres://user@host:5432/name?sslmode=verify-full');
  }
  const parsed = parseDatabaseUrl(given);
  // The driver knows parameters that we don't, and no lists of hosts.
  if (!parsed.ok && namesSeveralHosts(given)) throw new UsageError(`--database cannot be used: ${parsed.fault}`);
  return given;
}

function networkOf(given: string): string {
  const [address = '', bits] = given.split('/');
  const most = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) !== 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))) return given;
  throw new UsageError(`--trust-proxy takes a network such as 10.0.0.0/8; not "${given}"`);
}

function originOf(given: string): string {
  if (given === '*' || (URL.canParse(given) && new URL(given).origin === given)) return given;
  throw new UsageError(`--cors takes an origin such as https://shop.example, or *; not "${given}"`);
}
