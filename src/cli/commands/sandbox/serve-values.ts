import { readFileSync } from 'node:fs';
import { nearest } from '../../../shared/did-you-mean.ts';
import { UsageError } from '../../../shared/errors.ts';
import { readErrorReason } from '../../../shared/file-error.ts';
import { requireFileName } from '../values.ts';

/** How the value of an option is written: a text, several, or only its name. */
type Kind = 'text' | 'list' | 'flag';

/** The options of `sandbox serve`, by the name that they have on the command line, in a file and, in capitals, as a variable. */
const kinds = {
  port: 'text',
  host: 'text',
  expose: 'flag',
  file: 'text',
  database: 'text',
  import: 'text',
  pets: 'text',
  seed: 'text',
  ids: 'text',
  key: 'text',
  'key-file': 'text',
  plan: 'text',
  'limit-minute': 'text',
  'limit-day': 'text',
  'window-seconds': 'text',
  'no-ban': 'flag',
  'ban-strikes': 'text',
  'ban-seconds': 'text',
  'address-limit': 'text',
  'no-address-limit': 'flag',
  'min-quantity': 'text',
  'max-quantity': 'text',
  fault: 'list',
  'admin-port': 'text',
  'admin-host': 'text',
  'admin-token': 'text',
  'tls-cert': 'text',
  'tls-key': 'text',
  'trust-proxy': 'list',
  'keep-alive': 'text',
  cors: 'list',
  drain: 'text',
  log: 'flag',
} as const satisfies Readonly<Record<string, Kind>>;

type Name = keyof typeof kinds;

/** What each option is set to; absent where nothing says so. */
export type ServeValues = {
  readonly [One in Name]?: (typeof kinds)[One] extends 'flag'
    ? boolean
    : (typeof kinds)[One] extends 'list'
      ? readonly string[]
      : string;
};

type Value = string | boolean | readonly string[];

const prefix = 'PETSTOCK_SERVE_';

interface Sources {
  /** As Commander has parsed them: `windowSeconds`, and `ban: false` for `--no-ban`. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with what is not known and does no harm. */
  warn(line: string): void;
}

/** Options that say the same in another way, of which one source names one. */
const alternatives: readonly (readonly Name[])[] = [
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
 * Options from the command line, else from `PETSTOCK_SERVE_…`, else from the file of `--config`.
 * @throws UsageError for a file that can't be read, a name in it that is no option, or a value of another kind
 */
export function serveValues({ flags, env, warn }: Sources): ServeValues {
  const file = typeof flags.config === 'string' ? flags.config : env[`${prefix}CONFIG`] || undefined;
  if (file !== undefined) requireFileName(file, '--config');
  const values = new Map<string, Value>(file === undefined ? [] : fromFile(file));
  for (const stronger of [fromVariables(env, warn), fromFlags(flags)]) overrule(values, new Map(stronger));
  return Object.fromEntries(values);
}

/** What a stronger source says takes the place of what weaker ones say in its stead: `--database` that of `PETSTOCK_SERVE_FILE`. */
function overrule(values: Map<string, Value>, stronger: ReadonlyMap<Name, Value>): void {
  for (const pair of alternatives) {
    const [one, ...others] = pair.filter((name) => isGiven(stronger.get(name)));
    if (one === undefined || others.length > 0) continue;
    for (const name of pair) values.delete(name);
  }
  for (const [name, value] of stronger) values.set(name, value);
}

/** A flag that is said to be off asks for nothing. */
function isGiven(value: Value | undefined): boolean {
  return value !== undefined && value !== false;
}

function* fromFlags(flags: Sources['flags']): Generator<[Name, Value]> {
  for (const name of names()) {
    const isNegated = name.startsWith('no-');
    const value = flags[camelCase(isNegated ? name.slice(3) : name)];
    if (isNegated) {
      if (value === false) yield [name, true];
    } else if (typeof value === 'string' || value === true || Array.isArray(value)) yield [name, value];
  }
}

function* fromVariables(env: Sources['env'], warn: Sources['warn']): Generator<[Name, Value]> {
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(prefix) || text === undefined || text === '' || variable === `${prefix}CONFIG`) continue;
    const name = variable.slice(prefix.length).toLowerCase().replaceAll('_', '-');
    if (isName(name)) yield [name, variableValue(name, text, variable)];
    else warn(`${variable} is not an option of petstock sandbox serve`);
  }
}

/** The value that a variable's text stands for. */
function variableValue(name: Name, text: string, variable: string): Value {
  switch (kinds[name]) {
    case 'text':
      return text;
    case 'flag':
      if (/^(true|1|yes|on)$/i.test(text)) return true;
      if (/^(false|0|no|off)$/i.test(text)) return false;
      throw new UsageError(`${variable} takes true or false; not "${text}"`);
    case 'list':
      // A fault may hold commas and spaces.
      return text.split(name === 'fault' ? /\n/ : /[\s,]+/).filter((part) => part !== '');
  }
}

function fromFile(file: string): [Name, Value][] {
  const content = parsed(file);
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new UsageError(`${file} must be a JSON object, such as {"port": 8080, "plan": "pro"}`);
  }
  return Object.entries(content).map(([name, value]) => {
    if (!isName(name)) {
      const like = nearest(name, names());
      const meant = like === undefined ? '' : `; did you mean "${like}"?`;
      throw new UsageError(`"${name}" in ${file} is not an option of petstock sandbox serve${meant}`, {
        hint: 'petstock sandbox serve --help',
      });
    }
    return [name, fileValueOf(name, value, file)];
  });
}

function fileValueOf(name: Name, value: unknown, file: string): Value {
  const kind = kinds[name];
  if (kind === 'flag' && typeof value === 'boolean') return value;
  if (kind === 'text' && (typeof value === 'string' || Number.isSafeInteger(value))) return String(value);
  if (kind === 'list') {
    const list = typeof value === 'string' ? [value] : value;
    if (Array.isArray(list) && list.every((one) => typeof one === 'string')) return list;
  }
  const wanted = { flag: 'true or false', text: 'a text or a whole number', list: 'a list of texts' }[kind];
  throw new UsageError(`"${name}" in ${file} takes ${wanted}`);
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    // What V8 says of it repeats what is in the file, which may be a key.
    const reason = cause instanceof SyntaxError ? 'it is not JSON' : readErrorReason(cause);
    throw new UsageError(`The options in ${file} can't be read: ${reason}`, { cause });
  }
}

function names(): readonly Name[] {
  return Object.keys(kinds) as Name[];
}

function isName(name: string): name is Name {
  return Object.hasOwn(kinds, name);
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
