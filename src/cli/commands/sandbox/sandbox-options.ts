import { parseQuantity } from '../../../inventory/items.ts';
import { parseDatabaseUrl } from '../../../shared/database-url.ts';
import { UsageError } from '../../../shared/errors.ts';
import { parseSubnet } from '../../../shared/subnet.ts';
import type { OptionRow } from '../define.ts';
import { oneOf, required, requireFileName } from '../option-values.ts';

export const defaultPort = 4010;

const unlimited = Number.MAX_SAFE_INTEGER;

export const plans = ['free', 'pro', 'business'] as const;

/** Maximum time in seconds. Node's timers can't wait much longer. */
const maxSeconds = 2_000_000;

const day = 86_400;

type Read<Value> = (text: string, option: string) => Value;

/**
 * An option with a value: the name of the value in help, the description, the parser and, for a repeatable option, the
 * separator of values in a variable.
 */
export type ValueOption = readonly [value: string, about: string, read: Read<unknown>, separator?: RegExp];

function whole(least: number, most = unlimited): Read<number> {
  return (text, option) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const range = most === unlimited ? `from ${least}` : `from ${least} to ${most}`;
    throw new UsageError(`${option} takes a whole number ${range}, not "${text}"`);
  };
}

const word =
  <Word extends string>(...words: readonly Word[]): Read<Word> =>
  (given, option) =>
    oneOf(option, given, words);
const text: Read<string> = (given) => given;
const quantity: Read<bigint> = (given, option) => BigInt(required(parseQuantity(given), option));
const blankOrComma = /[\s,]+/;
const file: Read<string> = (given, option) => {
  requireFileName(given, option);
  return given;
};

/**
 * The options of all sandbox commands: `adminPort` is `--admin-port` on the command line, and for `sandbox serve` the
 * variable `PETSTOCK_SERVE_ADMIN_PORT`. An option that is only a description takes no value.
 */
export const options = {
  file: [
    'path',
    'database file; :memory: stores nothing (default: the file of --env sandbox, or :memory: with options for the stock, key, plan, limits or bans)',
    file,
  ],
  database: [
    'url',
    'a PostgreSQL database instead of a file, for several servers: postgres://user@host:5432/name',
    readDatabase,
  ],
  import: ['file', 'stock for a new database: CSV or JSON, as for `sandbox import`', file],
  pets: ['n', 'number of pets in a new stock (default: 24)', whole(0, 100_000_000)],
  seed: ['n', 'seed of a new stock; the same seed gives the same stock (default: 1)', whole(0)],
  ids: [
    'kind',
    'large: some ids are beyond 2^53; small: all are below, for tools that round large numbers (default: large)',
    word('large', 'small'),
  ],
  key: [
    'value',
    "the key, 16 to 128 visible ASCII characters; other users of this machine can see the command line (default: the sandbox's own; with :memory: a new one)",
    readSecret,
  ],
  keyFile: ['file', 'file with the key, created if it is missing; a key in a file is never shown', file],
  minQuantity: ['n', 'smallest accepted quantity (default: none)', quantity],
  maxQuantity: ['n', 'largest accepted quantity (default: none)', quantity],
  plan: ['plan', `plan of the key: ${plans.join(', ')} (default: business)`, word(...plans)],
  limitMinute: ['n', 'requests per minute, for an enterprise key', whole(0)],
  limitDay: ['n', 'requests per day, for an enterprise key', whole(0)],
  windowSeconds: ['n', 'length of a minute in seconds, for tests (default: 60)', whole(1, day)],
  noBan: 'never ban a key',
  banStrikes: ['n', 'refused requests in a minute before a ban (default: 10)', whole(0)],
  banSeconds: ['n', 'length of a ban in seconds (default: 300)', whole(1)],
  addressLimit: ['n', 'requests without a valid key per minute and address (default: 600)', whole(0)],
  noAddressLimit: 'never limit requests without a valid key; they always get a 401',
  port: ['n', `port; 0 uses a free one (default: ${defaultPort})`, whole(0, 65_535)],
  host: ['address', 'address to listen on (default: 127.0.0.1)', text],
  expose: 'allow a --host or --admin-host that other machines can reach',
  tlsCert: ['file', 'certificate with its chain, PEM; read again on SIGHUP', file],
  tlsKey: ['file', 'private key of the certificate, PEM', file],
  trustProxy: [
    'cidr',
    'network of proxies whose X-Forwarded-For is trusted; may be repeated',
    readNetwork,
    blankOrComma,
  ],
  keepAlive: ['seconds', 'how long to keep an idle connection, in seconds (default: 75)', whole(1, maxSeconds)],
  cors: [
    'origin',
    'origin whose web pages may call the service, such as https://shop.example, or *; may be repeated',
    readOrigin,
    blankOrComma,
  ],
  adminPort: ['n', 'a port for probes, metrics, stock and keys; 0 uses a free one', whole(0, 65_535)],
  adminHost: ['address', 'address of the admin port (default: loopback)', text],
  adminToken: ['token', 'bearer token of the admin port (default: a new one)', readSecret],
  metricsToken: [
    'token',
    'bearer token of /metrics on the admin port (default: none on loopback, otherwise the admin token)',
    readSecret,
  ],
  drain: [
    'seconds',
    'seconds for which /readyz fails before the service stops listening (default: 0)',
    whole(0, 3_600),
  ],
  log: 'one JSON line per request and event on stderr; never the key',
  fault: ['spec', 'a fault to inject, for testing clients; may be repeated', text, /\n/],
  testControls:
    'add faults, the clock and a journal of requests to the admin port, for testing clients; /readyz then always fails',
} as const satisfies Readonly<Record<string, string | ValueOption>>;

type Options = typeof options;
export type Name = keyof Options;

/** The value of each option; absent if it was not set. */
export type Values = {
  readonly [Each in Name]?: Options[Each] extends readonly [string, string, Read<infer Value>, RegExp]
    ? readonly Value[]
    : Options[Each] extends readonly [string, string, Read<infer Value>]
      ? Value
      : true;
};

export const optionNames = Object.keys(options) as Name[];

/** Returns the option on the command line, such as `--admin-port`. */
export function flagOf(name: Name): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * Returns some of these options for a command.
 * @param abouts the descriptions that differ for this command
 */
export function sandboxOptions(
  names: readonly Name[],
  abouts: Readonly<Partial<Record<Name, string>>> = {},
): readonly OptionRow[] {
  return names.map((name) => {
    const option = options[name];
    const flag = flagOf(name);
    if (typeof option === 'string') return [flag, abouts[name] ?? option];
    const [value, about, read, separator]: ValueOption = option;
    const readFlag = (given: string, earlier: unknown): unknown =>
      separator === undefined ? read(given, flag) : [earlier ?? [], read(given, flag)].flat();
    return [`${flag} <${value}>`, abouts[name] ?? about, readFlag];
  });
}

/**
 * Returns the limits of an enterprise key; undefined if neither is given. If only one is given, the other is unlimited.
 */
export function limitsOf({ limitMinute, limitDay }: Pick<Values, 'limitMinute' | 'limitDay'>) {
  if (limitMinute === undefined && limitDay === undefined) return undefined;
  return { minute: limitMinute ?? unlimited, day: limitDay ?? unlimited };
}

/**
 * Returns a secret of 16 to 128 visible ASCII characters.
 * @throws UsageError for any other text, without repeating it
 */
export function readSecret(given: string, option: string): string {
  if (/^[!-~]{16,128}$/.test(given)) return given;
  throw new UsageError(`${option} must have 16 to 128 visible ASCII characters`);
}

/**
 * Returns the URL of a PostgreSQL database.
 * @throws UsageError for an invalid URL, without repeating it, because it may contain a password
 */
function readDatabase(given: string): string {
  if (!/^postgres(ql)?:\/\/\S+$/.test(given)) {
    throw new UsageError('--database takes an address such as postgres://user@host:5432/name?sslmode=verify-full');
  }
  const parsed = parseDatabaseUrl(given);
  if (!parsed.ok) throw new UsageError(`--database is not valid: ${parsed.problem}`);
  return given;
}

function readNetwork(given: string, option: string): string {
  if (parseSubnet(given) !== undefined) return given;
  throw new UsageError(`${option} takes a network such as 10.0.0.0/8, not "${given}"`);
}

function readOrigin(given: string, option: string): string {
  if (given === '*' || (URL.canParse(given) && new URL(given).origin === given)) return given;
  throw new UsageError(`${option} takes an origin such as https://shop.example, or *, not "${given}"`);
}
