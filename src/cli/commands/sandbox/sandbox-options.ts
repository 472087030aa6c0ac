import { parseQuantity } from '../../../inventory/items.ts';
import { UsageError } from '../../../shared/errors.ts';
import { anyText, files, type Kind, type OptionsOf, oneOf, optionRows, repeated, required } from '../command.ts';
import { requireFileName } from '../option-values.ts';

export const defaultPort = 4010;

const unlimited = Number.MAX_SAFE_INTEGER;

const day = 86_400;

function whole(least: number, most = unlimited): Kind<number> {
  return {
    ...anyText,
    read: (text, option) => {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= least && value <= most) return value;
      const range = most === unlimited ? `from ${least}` : `from ${least} to ${most}`;
      throw new UsageError(`${option} takes a whole number ${range}, not "${text}"`);
    },
  };
}

/** An IPv6 address may be in brackets, as in a URL. */
const address: Kind<string> = { ...anyText, read: (text) => text.replace(/^\[(.+)\]$/, '$1') };

const bound: Kind<bigint> = {
  ...anyText,
  read: (text, option) => BigInt(required(parseQuantity(text), option)),
};

function fileName(kind: Kind<string>): Kind<string> {
  return {
    ...kind,
    read: (text, option) => {
      requireFileName(text, option);
      return text;
    },
  };
}

const plans = ['free', 'pro', 'business'] as const;

/** The option of the commands that work on a database file. */
export const fileOption = [
  '--file <path>',
  'database file (default: the file of --env sandbox)',
  fileName(files()),
] as const;

/** The options for a new stock. */
export const stockOptions = optionRows(
  ['--pets <n>', 'number of pets in a new stock (default: 24)', whole(0, 100_000_000)],
  ['--seed <n>', 'seed of a new stock; the same seed gives the same stock (default: 1)', whole(0)],
  [
    '--ids <kind>',
    'large: some ids are beyond 2^53; small: all are below, for tools that round large numbers (default: large)',
    oneOf(['large', 'small']),
  ],
);

export const serveOptions = optionRows(
  ['--port <n>', `port; 0 uses a free one (default: ${defaultPort})`, whole(0, 65_535)],
  ['--host <address>', 'address to listen on (default: 127.0.0.1)', address],
  [
    '--file <path>',
    'database file; :memory: stores nothing (default: the file of --env sandbox, or :memory: with options for the stock, key, plan, limits or bans)',
    fileName(files()),
  ],
  ['--import <file>', 'stock for a new database, as for `sandbox import`', fileName(files('.csv', '.json'))],
  ...stockOptions,
  [
    '--key <value>',
    "the key, 16 to 128 visible ASCII characters; other users of this machine can see the command line, but not PETSTOCK_SANDBOX_KEY (default: the sandbox's own; with :memory: a new one)",
    { ...anyText, read: readKey },
  ],
  ['--plan <plan>', `plan of the key: ${plans.join(', ')} (default: business)`, oneOf(plans)],
  ['--limit-minute <n>', 'requests per minute, for an enterprise key', whole(0)],
  ['--limit-day <n>', 'requests per day, for an enterprise key', whole(0)],
  ['--window-seconds <n>', 'length of a minute in seconds, for tests (default: 60)', whole(1, day)],
  ['--no-ban', 'never ban a key'],
  ['--ban-strikes <n>', 'refused requests in a minute before a ban (default: 10)', whole(0)],
  ['--ban-seconds <n>', 'length of a ban in seconds (default: 300)', whole(1)],
  ['--min-quantity <n>', 'smallest accepted quantity (default: none)', bound],
  ['--max-quantity <n>', 'largest accepted quantity (default: none)', bound],
  ['--fault <spec>', 'a fault to inject, for testing clients; may be repeated', repeated(anyText)],
  [
    '--cors <origin>',
    'origin whose web pages may call the service, such as https://shop.example, or *; may be repeated',
    repeated({ ...anyText, read: readOrigin }),
  ],
);

export type ServeOptions = OptionsOf<typeof serveOptions>;

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
