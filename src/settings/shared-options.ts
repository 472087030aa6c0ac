import { environmentNames, nearest } from '../shared/hint.ts';
import { type Parsed, parsed, problem, quoted } from '../shared/parsed.ts';
import { remoteEnvironmentNames } from './settings.ts';
import { type Environment, keyVariables, storesOfVariables, urlVariable, variable } from './variables.ts';

export interface SharedOption {
  readonly flags: string;
  readonly about: string;
  /** The variable that applies if the option is not given. */
  readonly variable?: string;
  /** The value of the variable that means this option, if it has values of its own: `false` for `--no-header`. */
  readonly values?: string;
  /**
   * Parses the value of the option, or the text of its variable. Absent for `env` and `store`, which are parsed with
   * their settings, and for flags without a variable, or whose variable is read elsewhere.
   */
  readonly parse?: (text: string) => Parsed<string | number | boolean>;
  /** What completion suggests as its value: these words, or the stores. */
  readonly suggests?: readonly string[] | 'stores';
}

const formatNames = ['table', 'json', 'ndjson', 'csv', 'tsv', 'html'] as const;
const colorNames = ['auto', 'always', 'never'] as const;

/**
 * The shared options, in the order of the help. The program, `help options` and `help environment` are generated from
 * this table.
 */
export const sharedOptions = {
  env: {
    flags: '-e, --env <name>',
    about: 'staging, production or sandbox (default: staging)',
    variable: 'PETSTOCK_ENV',
    suggests: environmentNames,
  },
  store: {
    flags: '-s, --store <name>',
    about: 'the store, if there are several with their own addresses and keys',
    variable: 'PETSTOCK_STORE',
    suggests: 'stores',
  },
  output: {
    flags: '-o, --output <format>',
    about: 'table, json, ndjson, csv or tsv (default: table on a terminal, otherwise tsv)',
    variable: 'PETSTOCK_OUTPUT',
    parse: oneOf(formatNames),
    // `html` is suggested for every command, though only some accept it.
    suggests: formatNames,
  },
  json: { flags: '--json', about: 'the same as -o json' },
  raw: {
    flags: '--raw',
    about: 'leave text in csv unchanged, even if a spreadsheet would run it as a formula',
    variable: 'PETSTOCK_RAW',
    parse: onOrOff,
  },
  stringIds: {
    flags: '--string-ids',
    about: 'print pet ids as strings in JSON, for tools that round large numbers (jq 1.6, JavaScript)',
    variable: 'PETSTOCK_STRING_IDS',
    parse: onOrOff,
  },
  header: {
    flags: '--header',
    about: 'print a header line (also in tsv)',
    variable: 'PETSTOCK_HEADER',
    parse: onOrOff,
  },
  noHeader: {
    flags: '--no-header',
    about: 'leave out the header line (also in table and csv)',
    variable: 'PETSTOCK_HEADER',
    values: 'false',
  },
  pager: {
    flags: '--no-pager',
    about: 'show long tables without a pager',
    variable: 'PETSTOCK_PAGER',
    values: 'cat',
  },
  yes: { flags: '-y, --yes', about: 'answer yes whenever petstock asks for confirmation' },
  quiet: {
    flags: '-q, --quiet',
    about: 'show only warnings and errors on stderr (the default if stderr is no terminal)',
    variable: 'PETSTOCK_QUIET',
    parse: onOrOff,
  },
  verbose: {
    flags: '-v, --verbose',
    about: 'show notes on stderr even if it is no terminal: the target, the rate limit, plans, progress, advice',
    variable: 'PETSTOCK_VERBOSE',
    parse: onOrOff,
  },
  debug: {
    flags: '--debug',
    about: 'show each request and response on stderr',
    variable: 'PETSTOCK_LOG',
    values: 'text',
    parse: oneOf(['text', 'json']),
  },
  // A separate flag, because Commander would take the next word for an optional value.
  debugJson: {
    flags: '--debug=json',
    about: 'like --debug, but every line on stderr is JSON with a time',
    variable: 'PETSTOCK_LOG',
    values: 'json',
  },
  retries: {
    flags: '--retries <n>',
    about: 'retries after a network error, 500, 502, 503 or 504 (default: 4); they never add a delta twice',
    variable: 'PETSTOCK_RETRIES',
    parse: (text) =>
      /^\d{1,2}$/.test(text) ? parsed(Number(text)) : problem(`takes a whole number from 0 to 99, not ${quoted(text)}`),
  },
  color: {
    flags: '--color <when>',
    about: 'auto, always or never',
    variable: 'PETSTOCK_COLOR',
    parse: oneOf(colorNames),
    suggests: colorNames,
  },
  timeout: {
    flags: '--timeout <seconds>',
    about: 'time limit of one request (default: 30)',
    variable: 'PETSTOCK_TIMEOUT',
    parse: (text) => (/^0+(\.0+)?$/.test(text) ? problem('must be more than 0 seconds') : seconds(30)(text)),
  },
  maxWait: {
    flags: '--max-wait <seconds>',
    about: 'maximum total wait for the rate limit (default: 90, and in a bulk run 90 for each wait)',
    variable: 'PETSTOCK_MAX_WAIT',
    parse: seconds(90),
  },
} as const satisfies Readonly<Record<string, SharedOption>>;

const rows: readonly (readonly [string, SharedOption])[] = Object.entries(sharedOptions);

/** The values of the options that all commands share. Absent if neither the option nor its variable was given. */
export interface SharedOptions {
  /** `env` and `store` are as typed. Their variables and settings are read with the configuration. */
  readonly env?: string;
  readonly store?: string;
  readonly output?: (typeof formatNames)[number];
  readonly json?: boolean;
  readonly raw?: boolean;
  readonly stringIds?: boolean;
  readonly header?: boolean;
  /** False for `--no-pager`. */
  readonly pager?: boolean;
  readonly yes?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly debug?: 'text' | 'json';
  readonly retries?: number;
  readonly color?: (typeof colorNames)[number];
  /** In milliseconds, like `maxWait`. */
  readonly timeout?: number;
  readonly maxWait?: number;
}

/**
 * Parses the options that all commands share: each from the command line, otherwise from its variable.
 * @param typed the options as parsed by Commander
 * @returns the valid options, and the first problem, if there is one; the valid options determine how the problem is
 * shown
 */
export function readSharedOptions(
  { 'debug=json': debugJson, debug, ...typed }: Readonly<Record<string, unknown>>,
  env: Environment,
): { readonly options: SharedOptions; readonly problemText: string | undefined } {
  const given: Record<string, unknown> = { ...typed, debug: debugJson ? 'json' : debug ? 'text' : undefined };
  const options: Record<string, unknown> = {};
  let problemText: string | undefined;
  for (const [name, { flags, variable: source = '', parse }] of rows) {
    const value = given[name];
    // `--json` is a format, so the variable of `--output` is not read.
    const isHidden = name === 'output' && given.json === true;
    const text = value === undefined && parse !== undefined && !isHidden ? variable(env, source) : value;
    if (text === undefined) continue;
    const read = typeof text === 'string' && parse !== undefined ? parse(text) : parsed(text);
    if (read.ok) options[name] = read.value;
    else problemText ??= `${value === undefined ? source : nameOf(flags)} ${read.problem}`;
  }
  return { options, problemText };
}

function nameOf(flags: string): string {
  return /--[a-z-]+/.exec(flags)?.[0] ?? flags;
}

/** Returns each variable with the option that it sets: `PETSTOCK_LOG=json` is `--debug=json`. */
export function optionVariables(): readonly (readonly [variable: string, flags: string])[] {
  return rows.flatMap(([, { flags, variable: source, values }]) =>
    source === undefined ? [] : [[values === undefined ? source : `${source}=${values}`, flags] as const],
  );
}

function oneOf<const Value extends string>(values: readonly Value[]) {
  const shown = `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
  return (text: string): Parsed<Value> => {
    const value = values.find((known) => known === text);
    return value === undefined ? problem(`takes ${shown}, not ${quoted(text)}`) : parsed(value);
  };
}

/** Parses the text of a variable for an option without a value. */
function onOrOff(text: string): Parsed<boolean> {
  if (/^(true|1|yes|on)$/i.test(text)) return parsed(true);
  return /^(false|0|no|off)$/i.test(text) ? parsed(false) : problem(`takes true or false, not ${quoted(text)}`);
}

/** Maximum time in seconds. Node's timers can't wait much longer, and no window is as long. */
const maxSeconds = 2_000_000;

/**
 * Returns a parser that converts a time in seconds to milliseconds.
 * @param standard an example for the message
 */
function seconds(standard: number) {
  return (text: string): Parsed<number> => {
    const value = /^\d{1,10}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
    return value <= maxSeconds
      ? parsed(value * 1000)
      : problem(`takes a number of seconds up to 2000000, such as ${standard}, not ${quoted(text)}`);
  };
}

const prefix = 'PETSTOCK_';

/** The variables that are neither those of an option nor of an environment. */
const others = ['CONFIG_DIR', 'STATE_DIR', 'STATE_URL', 'SANDBOX_KEY', 'NO_CACHE'];

/** Returns a warning for each variable that begins like those of petstock, is set, and has no effect. */
export function idleVariables(env: Environment): readonly string[] {
  const set = Object.keys(env).filter((name) => /^PETSTOCK_/i.test(name) && variable(env, name) !== undefined);
  if (set.length === 0) return [];
  const known = [
    ...others.map((name) => prefix + name),
    ...optionVariables().map(([name]) => name.replace(/=.*/, '')),
    ...[undefined, ...storesOfVariables(env)].flatMap((store) =>
      remoteEnvironmentNames.flatMap((name) => [urlVariable(name, store), ...keyVariables(name, store)]),
    ),
  ];
  const idle = set.filter((name) => !known.includes(name));
  return idle.map((name) => {
    const names = known.map((each) => each.slice(prefix.length));
    const typed = name.slice(prefix.length);
    const meant = names.find((each) => each === `${typed}_STAGING`) ?? nearest(typed, names);
    return `${name} has no effect.${meant === undefined ? '' : ` Did you mean ${prefix}${meant}?`}`;
  });
}
