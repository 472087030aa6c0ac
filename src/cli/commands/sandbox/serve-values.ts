import type { ServiceOptions } from '../../../service/index.ts';
import { UsageError } from '../../../shared/errors.ts';
import { limitsOf } from './numbers.ts';
import { defaultPort, type Name, optionNames, options, type Read, type ServeValues } from './serve-options.ts';

const help = { hint: 'petstock sandbox serve --help' };

type Given = Map<Name, string | true | readonly string[]>;

const prefix = 'PETSTOCK_SERVE_';

/** Options of which only one has an effect: that of the command line takes precedence over the variable of the other one. */
const alternatives: readonly (readonly [Name, Name])[] = [
  ['file', 'database'],
  ['key', 'key-file'],
  ['import', 'pets'],
  ['import', 'seed'],
  ['import', 'ids'],
  ['address-limit', 'no-address-limit'],
  ['ban-strikes', 'no-ban'],
  ['ban-seconds', 'no-ban'],
  ['plan', 'limit-minute'],
  ['plan', 'limit-day'],
];

/**
 * Returns the options from the command line, else from `PETSTOCK_SERVE_…`.
 * @param flags as Commander has parsed them: `windowSeconds`, and `ban: false` for `--no-ban`
 * @param warn called with what is not known and does no harm
 * @throws UsageError for a value that makes no sense, or options that exclude each other
 */
export function serveValues(
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
  warn: (line: string) => void,
): ServeValues {
  const given = fromFlags(flags);
  const variables = fromVariables(env, warn);
  for (const pair of alternatives) {
    const [one, other] = pair.filter((name) => given.has(name));
    if (one !== undefined && other === undefined) for (const name of pair) variables.delete(name);
  }
  const entries = [...new Map([...variables, ...given])].map(([name, value]) => [name, readValue(name, value)]);
  const values: ServeValues = Object.fromEntries(entries);
  refuseContradictions(values);
  return values;
}

function readValue(name: Name, given: string | true | readonly string[]): unknown {
  const option = options[name];
  if (typeof option === 'string' || given === true) return given;
  const read: Read<unknown> = option.read;
  return typeof given === 'string' ? read(given, `--${name}`) : given.map((each) => read(each, `--${name}`));
}

function fromFlags(flags: Readonly<Record<string, unknown>>): Given {
  const given: Given = new Map();
  for (const name of optionNames) {
    const isNegated = name.startsWith('no-');
    const value = flags[name.replace(/^no-/, '').replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (isNegated ? value === false : value === true) given.set(name, true);
    else if (!isNegated && (typeof value === 'string' || Array.isArray(value))) given.set(name, value);
  }
  return given;
}

function fromVariables(env: Readonly<Record<string, string | undefined>>, warn: (line: string) => void): Given {
  const given: Given = new Map();
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(prefix) || value === undefined || value === '') continue;
    const wanted = variable.slice(prefix.length).toLowerCase().replaceAll('_', '-');
    const name = optionNames.find((each) => each === wanted);
    if (name === undefined) {
      warn(`${variable} is not an option of petstock sandbox serve`);
      continue;
    }
    const option = options[name];
    if (typeof option !== 'string') {
      given.set(name, 'separator' in option ? value.split(option.separator).filter((part) => part !== '') : value);
    } else if (/^(true|1|yes|on)$/i.test(value)) given.set(name, true);
    else if (!/^(false|0|no|off)$/i.test(value))
      throw new UsageError(`${variable} takes true or false; not "${value}"`);
  }
  return given;
}

function refuseContradictions(values: ServeValues): void {
  const refuse = (message: string) => {
    throw new UsageError(message, help);
  };
  for (const [one, other] of [
    ['file', 'database'],
    ['key', 'key-file'],
  ] as const) {
    if (values[one] !== undefined && values[other] !== undefined) {
      refuse(`--${one} and --${other} cannot be used together; leave one out`);
    }
  }
  if (values.import !== undefined && (values.pets ?? values.seed ?? values.ids) !== undefined) {
    refuse('--import brings a stock along; leave --pets, --seed and --ids out');
  }
  for (const option of ['admin-token', 'admin-host', 'metrics-token', 'test-controls'] as const) {
    if (values[option] !== undefined && values['admin-port'] === undefined) {
      refuse(`--${option} has no effect without --admin-port`);
    }
  }
  const [cert, key] = [values['tls-cert'], values['tls-key']];
  if ((cert === undefined) !== (key === undefined)) {
    refuse(`--tls-cert and --tls-key go together; ${cert === undefined ? '--tls-cert' : '--tls-key'} is missing`);
  }
  const [min, max] = [values['min-quantity'], values['max-quantity']];
  if (min !== undefined && max !== undefined && min > max) {
    refuse('--min-quantity is larger than --max-quantity, so no quantity would be accepted');
  }
}

type ParsedOptions = Omit<ServiceOptions, 'key' | 'clock' | 'stock' | 'log'>;

/** Returns what the values are to the service. @throws UsageError for limits that make no sense */
export function serviceOptionsOf(values: ServeValues): ParsedOptions {
  const [cert, tlsKey] = [values['tls-cert'], values['tls-key']];
  const [min, max] = [values['min-quantity'], values['max-quantity']];
  return present({
    port: values.port ?? defaultPort,
    host: values.host,
    file: values.database === undefined ? fileOf(values) : undefined,
    database: values.database,
    pets: values.pets,
    seed: values.seed,
    ids: values.ids,
    plan: values.plan,
    limits: limitsOf({ limitMinute: values['limit-minute'], limitDay: values['limit-day'] }),
    windowSeconds: values['window-seconds'],
    ban: values['no-ban'] !== true && { strikes: values['ban-strikes'] ?? 10, seconds: values['ban-seconds'] ?? 300 },
    addressLimit: values['no-address-limit'] === true ? (false as const) : values['address-limit'],
    quantityBounds: present({ min, max }),
    faults: values.fault,
    adminPort: values['admin-port'],
    adminHost: values['admin-host'],
    adminToken: values['admin-token'],
    metricsToken: values['metrics-token'],
    testControls: values['test-controls'],
    tls: cert === undefined || tlsKey === undefined ? undefined : { cert, key: tlsKey },
    trustProxy: values['trust-proxy'],
    keepAliveSeconds: values['keep-alive'],
    cors: values.cors,
  });
}

/** Options about the stock, the key or the windows. They are of this server alone and do not last in the sandbox. */
const ownOptions: readonly Name[] = [
  ...(['pets', 'seed', 'ids', 'import', 'key', 'key-file', 'plan', 'limit-minute', 'limit-day'] as const),
  ...(['window-seconds', 'no-ban', 'ban-strikes', 'ban-seconds'] as const),
];

/** With options of its own and no file that keeps them, all of it is in memory. */
function fileOf(values: ServeValues): string | undefined {
  return values.file ?? (ownOptions.some((name) => values[name] !== undefined) ? ':memory:' : undefined);
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The object without its undefined values. */
function present<T extends object>(object: T): Present<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Present<T>;
}
