import type { ServiceOptions } from '../../../service/index.ts';
import { onOrOff } from '../../../settings/shared-options.ts';
import type { Environment } from '../../../settings/variables.ts';
import { UsageError } from '../../../shared/errors.ts';
import {
  defaultPort,
  flagOf,
  limitsOf,
  type Name,
  optionNames,
  options,
  type ValueOption,
  type Values,
} from './sandbox-options.ts';

const hint = 'petstock sandbox serve --help';

/** Pairs of options that can't be used together. */
const exclusive = [
  ['file', 'database'],
  ['key', 'keyFile'],
] as const;

/**
 * Pairs of options of which only one can have an effect. If one is on the command line, the variable of the other is
 * ignored.
 */
const alternatives: readonly (readonly [Name, Name])[] = [
  ...exclusive,
  ['import', 'pets'],
  ['import', 'seed'],
  ['import', 'ids'],
  ['addressLimit', 'noAddressLimit'],
  ['banStrikes', 'noBan'],
  ['banSeconds', 'noBan'],
  ['plan', 'limitMinute'],
  ['plan', 'limitDay'],
];

/**
 * Returns the value of each option from the command line, or else from its variable `PETSTOCK_SERVE_…`.
 * @param flags as parsed by Commander: `windowSeconds`, and `ban: false` for `--no-ban`
 * @param warn receives a message for each variable that belongs to no option
 * @throws UsageError for an invalid value, or for options that can't be used together
 */
export function serveValues(
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
  warn: (line: string) => void,
): Values {
  const given = fromFlags(flags);
  const variables = fromVariables(env, warn);
  for (const [one, other] of alternatives) {
    if (given.has(one)) variables.delete(other);
    if (given.has(other)) variables.delete(one);
  }
  const values: Values = Object.fromEntries([...variables, ...given]);
  refuseContradictions(values);
  return values;
}

/** Reports whether stderr is a log. Works even if another option is invalid. */
export function logs(flags: Readonly<Record<string, unknown>>, env: Environment): boolean {
  const on = onOrOff(env[variableOf('log')] ?? '');
  return flags.log === true || (on.ok && on.value);
}

function fromFlags(flags: Readonly<Record<string, unknown>>): Map<Name, unknown> {
  const entries = optionNames.map((name): [Name, unknown] => {
    const negated = /^no([A-Z])(.*)$/.exec(name);
    if (negated === null) return [name, flags[name]];
    return [name, flags[`${negated[1]?.toLowerCase()}${negated[2]}`] === false || undefined];
  });
  return new Map(entries.filter(([, value]) => value !== undefined && value !== false));
}

function fromVariables(env: Readonly<Record<string, string | undefined>>, warn: (line: string) => void) {
  const given = new Map<Name, unknown>();
  const names = new Map(optionNames.map((name) => [variableOf(name), name]));
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith('PETSTOCK_SERVE_') || text === undefined || text === '') continue;
    const name = names.get(variable);
    if (name === undefined) {
      warn(`${variable} was ignored: petstock sandbox serve has no such option`);
      continue;
    }
    const value = readVariable(variable, name, text);
    if (value !== undefined) given.set(name, value);
  }
  return given;
}

function variableOf(name: Name): string {
  return `PETSTOCK_SERVE_${flagOf(name).slice(2).replaceAll('-', '_').toUpperCase()}`;
}

/** Returns the value of an option from its variable; undefined if the option is switched off. */
function readVariable(variable: string, name: Name, text: string): unknown {
  const option = options[name];
  if (typeof option !== 'string') {
    const [, , read, separator]: ValueOption = option;
    if (separator === undefined) return read(text, flagOf(name));
    const parts = text.split(separator).filter((part) => part !== '');
    return parts.map((part) => read(part, flagOf(name)));
  }
  const on = onOrOff(text);
  if (!on.ok) throw new UsageError(`${variable} ${on.problem}`);
  return on.value || undefined;
}

function refuseContradictions(values: Values): void {
  const refuse = (message: string) => {
    throw new UsageError(message, { hint });
  };
  const isSet = (...names: readonly Name[]) => names.some((name) => values[name] !== undefined);
  for (const [one, other] of exclusive) {
    if (isSet(one) && isSet(other)) refuse(`${flagOf(one)} and ${flagOf(other)} can't be used together. Leave one out`);
  }
  if (isSet('import') && isSet('pets', 'seed', 'ids')) {
    refuse('--import already gives a stock. Leave out --pets, --seed and --ids');
  }
  for (const option of ['adminToken', 'adminHost', 'metricsToken', 'testControls'] as const) {
    if (isSet(option) && !isSet('adminPort')) refuse(`${flagOf(option)} has no effect without --admin-port`);
  }
  if (isSet('tlsCert') !== isSet('tlsKey')) {
    refuse(
      `--tls-cert and --tls-key must be used together. ${isSet('tlsKey') ? '--tls-cert' : '--tls-key'} is missing`,
    );
  }
  const { minQuantity: min, maxQuantity: max } = values;
  if (min !== undefined && max !== undefined && min > max) {
    refuse('--min-quantity is larger than --max-quantity, so no quantity would be accepted');
  }
}

/**
 * Options about the stock, the key, the plan, the limits or the ban rule. With any of them, but without a file or a
 * database, the server keeps everything in memory.
 */
const ownOptions: readonly Name[] = [
  ...(['pets', 'seed', 'ids', 'import', 'key', 'keyFile', 'plan', 'limitMinute', 'limitDay'] as const),
  ...(['windowSeconds', 'noBan', 'banStrikes', 'banSeconds'] as const),
];

type ParsedOptions = Omit<ServiceOptions, 'key' | 'clock' | 'stock' | 'log'>;

export function serviceOptionsOf(values: Values): ParsedOptions {
  const { port = defaultPort, host, database, pets, seed, ids, plan, windowSeconds, cors, trustProxy } = values;
  const { adminPort, adminHost, adminToken, metricsToken, testControls, tlsCert: cert, tlsKey } = values;
  const isOwn = ownOptions.some((name) => values[name] !== undefined);
  const file = values.file ?? (isOwn ? ':memory:' : undefined);
  return {
    ...{ port, host, database, pets, seed, ids, plan, windowSeconds, cors, trustProxy },
    ...{ adminPort, adminHost, adminToken, metricsToken, testControls },
    file: database === undefined ? file : undefined,
    limits: limitsOf(values),
    ban: values.noBan !== true && { strikes: values.banStrikes ?? 10, seconds: values.banSeconds ?? 300 },
    addressLimit: values.noAddressLimit === true ? (false as const) : values.addressLimit,
    quantityBounds: { min: values.minQuantity, max: values.maxQuantity },
    faults: values.fault,
    tls: cert === undefined || tlsKey === undefined ? undefined : { cert, key: tlsKey },
    keepAliveSeconds: values.keepAlive,
  };
}
