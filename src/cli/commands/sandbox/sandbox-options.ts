import { parseQuantity } from '../../../inventory/items.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { OptionRow } from '../define.ts';
import { oneOf, required, requireFileName } from '../option-values.ts';

export const defaultPort = 4010;

const unlimited = Number.MAX_SAFE_INTEGER;

export const plans = ['free', 'pro', 'business'] as const;

const day = 86_400;

type Read<Value> = (text: string, option: string) => Value;

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
/** An IPv6 address may be in brackets, as in a URL. */
const address: Read<string> = (given) => given.replace(/^\[(.+)\]$/, '$1');
const quantity: Read<bigint> = (given, option) => BigInt(required(parseQuantity(given), option));
const file: Read<string> = (given, option) => {
  requireFileName(given, option);
  return given;
};

/**
 * The options of all sandbox commands, by the names that Commander gives them. An option with a value has the name of
 * the value in help, the description, the parser and, if it may be repeated, `repeatable`. One that is only a
 * description takes no value.
 */
const options = {
  port: ['n', `port; 0 uses a free one (default: ${defaultPort})`, whole(0, 65_535)],
  host: ['address', 'address to listen on (default: 127.0.0.1)', address],
  file: [
    'path',
    'database file; :memory: stores nothing (default: the file of --env sandbox, or :memory: with options for the stock, key, plan, limits or bans)',
    file,
  ],
  import: ['file', 'stock for a new database, as for `sandbox import`', file],
  pets: ['n', 'number of pets in a new stock (default: 24)', whole(0, 100_000_000)],
  seed: ['n', 'seed of a new stock; the same seed gives the same stock (default: 1)', whole(0)],
  ids: [
    'kind',
    'large: some ids are beyond 2^53; small: all are below, for tools that round large numbers (default: large)',
    word('large', 'small'),
  ],
  key: [
    'value',
    "the key, 16 to 128 visible ASCII characters; other users of this machine can see the command line, but not PETSTOCK_SANDBOX_KEY (default: the sandbox's own; with :memory: a new one)",
    readKey,
  ],
  plan: ['plan', `plan of the key: ${plans.join(', ')} (default: business)`, word(...plans)],
  limitMinute: ['n', 'requests per minute, for an enterprise key', whole(0)],
  limitDay: ['n', 'requests per day, for an enterprise key', whole(0)],
  windowSeconds: ['n', 'length of a minute in seconds, for tests (default: 60)', whole(1, day)],
  ban: 'never ban a key',
  banStrikes: ['n', 'refused requests in a minute before a ban (default: 10)', whole(0)],
  banSeconds: ['n', 'length of a ban in seconds (default: 300)', whole(1)],
  minQuantity: ['n', 'smallest accepted quantity (default: none)', quantity],
  maxQuantity: ['n', 'largest accepted quantity (default: none)', quantity],
  fault: ['spec', 'a fault to inject, for testing clients; may be repeated', text, 'repeatable'],
  cors: [
    'origin',
    'origin whose web pages may call the service, such as https://shop.example, or *; may be repeated',
    readOrigin,
    'repeatable',
  ],
} as const;

type Options = typeof options;
type Name = keyof Options;

/** The value of each option; absent if it was not set. `ban` is false with `--no-ban`. */
export type Values = {
  readonly [Each in Name]?: Options[Each] extends readonly [string, string, Read<infer Value>, 'repeatable']
    ? readonly Value[]
    : Options[Each] extends readonly [string, string, Read<infer Value>]
      ? Value
      : boolean;
};

export const serveOptionNames = Object.keys(options) as Name[];

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
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (typeof option === 'string') return [flag.replace('--', '--no-'), abouts[name] ?? option];
    const [value, about, read, repeatable] = option as readonly [string, string, Read<unknown>, 'repeatable'?];
    const readFlag = (given: string, earlier: unknown): unknown =>
      repeatable === undefined ? read(given, flag) : [earlier ?? [], read(given, flag)].flat();
    return [`${flag} <${value}>`, abouts[name] ?? about, readFlag];
  });
}

/**
 * Returns a key of 16 to 128 visible ASCII characters.
 * @throws UsageError for any other text, without repeating it
 */
export function readKey(given: string, option: string): string {
  if (/^[!-~]{16,128}$/.test(given)) return given;
  throw new UsageError(`${option} must have 16 to 128 visible ASCII characters`);
}

function readOrigin(given: string, option: string): string {
  if (given === '*' || (URL.canParse(given) && new URL(given).origin === given)) return given;
  throw new UsageError(`${option} takes an origin such as https://shop.example, or *, not "${given}"`);
}
