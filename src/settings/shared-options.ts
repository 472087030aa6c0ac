import { type Parsed, parsed, problem, quoted } from '../shared/parsed.ts';
import { type Environment, variable } from './variables.ts';

/** An option that all commands share. */
interface SharedOption {
  readonly flags: string;
  readonly about: string;
  /** Counts where the option is not given. Absent: there is none, and none answers a question. */
  readonly variable?: string;
  /** What the variable takes; default: what the option does. */
  readonly values?: string;
  /** Reads a value, or the text of a variable. Absent: it is read with the settings that may stand in for it. */
  readonly parse?: (text: string) => Parsed<string | number | boolean>;
}

/** In the order of the help. The program, `help options` and `help environment` are made of this table. */
export const sharedOptions = {
  env: {
    flags: '-e, --env <name>',
    about: 'staging, production or sandbox (default: staging)',
    variable: 'PETSTOCK_ENV',
  },
  store: {
    flags: '-s, --store <name>',
    about: 'one of several stores, each with its own addresses and keys',
    variable: 'PETSTOCK_STORE',
  },
  output: {
    flags: '-o, --output <format>',
    about: 'table, json, ndjson, csv or tsv (default: table on a terminal, else tsv)',
    variable: 'PETSTOCK_OUTPUT',
    parse: oneOf(['table', 'json', 'ndjson', 'csv', 'tsv', 'html']),
  },
  json: { flags: '--json', about: 'the same as -o json' },
  raw: {
    flags: '--raw',
    about: 'leave text in csv as it is, even if a spreadsheet would take it for a formula',
    variable: 'PETSTOCK_RAW',
    parse: onOrOff,
  },
  stringIds: {
    flags: '--string-ids',
    about: 'pet ids as strings in JSON, for readers that keep 53 bits (jq 1.6, JavaScript)',
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
    about: 'without a header line, in table and csv too',
    variable: 'PETSTOCK_HEADER',
    values: 'false',
  },
  pager: {
    flags: '--no-pager',
    about: 'show long tables without a pager',
    variable: 'PETSTOCK_PAGER',
    values: 'cat',
  },
  yes: { flags: '-y, --yes', about: 'answer every confirmation with yes' },
  quiet: {
    flags: '-q, --quiet',
    about: 'show nothing but warnings and errors on stderr',
    variable: 'PETSTOCK_QUIET',
    parse: onOrOff,
  },
  debug: {
    flags: '--debug',
    about: 'show each request and answer on stderr',
    variable: 'PETSTOCK_LOG',
    values: 'text',
    parse: oneOf(['text', 'json']),
  },
  // A flag of its own: Commander would take the next word for an optional value.
  debugJson: {
    flags: '--debug=json',
    about: 'the same, and everything else on stderr, as lines of JSON with times',
    variable: 'PETSTOCK_LOG',
    values: 'json',
  },
  retries: {
    flags: '--retries <n>',
    about: 'of a read or an absolute write after a network fault, 500, 502, 503 or 504 (default: 4)',
    variable: 'PETSTOCK_RETRIES',
    parse: (text) =>
      /^\d{1,2}$/.test(text) ? parsed(Number(text)) : problem(`takes a whole number from 0 to 99, not ${quoted(text)}`),
  },
  color: {
    flags: '--color <when>',
    about: 'auto, always or never',
    variable: 'PETSTOCK_COLOR',
    parse: oneOf(['auto', 'always', 'never']),
  },
  timeout: {
    flags: '--timeout <seconds>',
    about: 'for one request (default: 30)',
    variable: 'PETSTOCK_TIMEOUT',
    parse: (text) => (/^0+(\.0+)?$/.test(text) ? problem('has to be more than 0 seconds') : seconds(30)(text)),
  },
  maxWait: {
    flags: '--max-wait <seconds>',
    about: 'maximum wait for the rate limit, in total (default: 90); bulk runs: per wait (90), unless this is given',
    variable: 'PETSTOCK_MAX_WAIT',
    parse: seconds(90),
  },
} as const satisfies Readonly<Record<string, SharedOption>>;

const rows: readonly (readonly [string, SharedOption])[] = Object.entries(sharedOptions);

/** The values of the options that all commands share. What is absent was not given, by the option or its variable. */
export interface SharedOptions {
  /** As it was typed. Its variable and the setting behind it are read with the configuration; so are those of `store`. */
  readonly env?: string;
  readonly store?: string;
  readonly output?: 'table' | 'json' | 'ndjson' | 'csv' | 'tsv' | 'html';
  readonly json?: boolean;
  readonly raw?: boolean;
  readonly stringIds?: boolean;
  readonly header?: boolean;
  /** False: `--no-pager`. */
  readonly pager?: boolean;
  readonly yes?: boolean;
  readonly quiet?: boolean;
  readonly debug?: 'text' | 'json';
  readonly retries?: number;
  readonly color?: 'auto' | 'always' | 'never';
  /** Milliseconds, as `maxWait`. */
  readonly timeout?: number;
  readonly maxWait?: number;
}

/**
 * Reads the options that all commands share: each from the command line, else from its variable.
 * @param typed as Commander has read them
 * @returns with the first fault, in words. The options that can be read are there nevertheless: the fault is shown by them
 */
export function readSharedOptions(
  { 'debug=json': debugJson, debug, ...typed }: Readonly<Record<string, unknown>>,
  env: Environment,
): { readonly options: SharedOptions; readonly fault: string | undefined } {
  const given: Record<string, unknown> = { ...typed, debug: debugJson ? 'json' : debug ? 'text' : undefined };
  const options: Record<string, unknown> = {};
  let fault: string | undefined;
  for (const [name, { flags, variable: source = '', parse }] of rows) {
    const value = given[name];
    // It is the whole option: no format of a variable stands beside it.
    const isHidden = name === 'output' && given.json === true;
    const text = value === undefined && parse !== undefined && !isHidden ? variable(env, source) : value;
    if (text === undefined) continue;
    const read = typeof text === 'string' && parse !== undefined ? parse(text) : parsed(text);
    if (read.ok) options[name] = read.value;
    else fault ??= `${value === undefined ? source : nameOf(flags)} ${read.problem}`;
  }
  return { options, fault };
}

/** `--timeout` */
function nameOf(flags: string): string {
  return /--[a-z-]+/.exec(flags)?.[0] ?? flags;
}

/** Returns each variable with what it does: `PETSTOCK_LOG=json` is `--debug=json`. */
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

function onOrOff(text: string): Parsed<boolean> {
  if (/^(true|1|yes|on)$/i.test(text)) return parsed(true);
  return /^(false|0|no|off)$/i.test(text) ? parsed(false) : problem(`takes true or false, not ${quoted(text)}`);
}

/** The most that a timer of Node can hold, and longer than any window. */
const maxSeconds = 2_000_000;

/** @returns milliseconds */
function seconds(standard: number) {
  return (text: string): Parsed<number> => {
    const value = /^\d{1,10}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
    return value <= maxSeconds
      ? parsed(value * 1000)
      : problem(`takes a number of seconds, such as ${standard}, not ${quoted(text)}`);
  };
}
