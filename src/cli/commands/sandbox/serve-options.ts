import { parseQuantity } from '../../../inventory/values.ts';
import type { ServiceOptions } from '../../../service/index.ts';
import { UsageError } from '../../../shared/errors.ts';
import { required } from '../values.ts';
import { count, type LimitOptions, limitsOf, planOf } from './numbers.ts';

/** Where `sandbox serve` listens by default. */
export const defaultPort = 4010;

/** The options of `sandbox serve` as they were typed. */
export interface ServeOptions extends LimitOptions {
  readonly port?: string;
  readonly host?: string;
  readonly expose?: boolean;
  readonly file?: string;
  readonly pets?: string;
  readonly seed?: string;
  readonly plan?: string;
  readonly windowSeconds?: string;
  readonly ban?: boolean;
  readonly banStrikes?: string;
  readonly banSeconds?: string;
  readonly minQuantity?: string;
  readonly maxQuantity?: string;
  readonly fault?: readonly string[];
  readonly adminPort?: string;
  readonly adminToken?: string;
  readonly log?: boolean;
}

type ParsedOptions = Omit<ServiceOptions, 'file' | 'key' | 'clock'> & { readonly file?: string };

/** @throws UsageError for the first option that makes no sense */
export function parseOptions(options: ServeOptions): ParsedOptions {
  const min = quantity('--min-quantity', options.minQuantity);
  const max = quantity('--max-quantity', options.maxQuantity);
  return present({
    port: count('--port', options.port, 0, 65_535) ?? defaultPort,
    host: options.host,
    file: fileOf(options),
    pets: count('--pets', options.pets, 0, 100_000_000),
    seed: count('--seed', options.seed, 0),
    plan: options.plan === undefined ? undefined : planOf(options.plan),
    limits: limitsOf(options),
    windowSeconds: count('--window-seconds', options.windowSeconds, 1, 86_400),
    ban:
      options.ban === false
        ? (false as const)
        : {
            strikes: count('--ban-strikes', options.banStrikes, 0) ?? 10,
            seconds: count('--ban-seconds', options.banSeconds, 1) ?? 300,
          },
    quantityBounds: boundsOf(min, max),
    faults: options.fault,
    adminPort: count('--admin-port', options.adminPort, 0, 65_535),
    adminToken: tokenOf(options),
  });
}

/**
 * What an option says about the stock, the key or the windows is of this server alone, so that it does not last in the
 * sandbox: without a file that keeps it, all of it is in memory.
 */
function fileOf(options: ServeOptions): string | undefined {
  const isOwn = ownOptions.some((name) => options[name] !== undefined) || options.ban === false;
  return options.file ?? (isOwn ? ':memory:' : undefined);
}

const ownOptions = [
  'pets',
  'seed',
  'plan',
  'limitMinute',
  'limitDay',
  'windowSeconds',
  'banStrikes',
  'banSeconds',
] as const;

function tokenOf({ adminToken, adminPort }: ServeOptions): string | undefined {
  if (adminToken === undefined) return undefined;
  if (adminPort === undefined) {
    throw new UsageError('--admin-token has no effect without --admin-port', {
      hint: 'petstock sandbox serve --help',
    });
  }
  if (/^[!-~]{16,128}$/.test(adminToken)) return adminToken;
  throw new UsageError('--admin-token takes 16 to 128 visible ASCII characters');
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
    throw new UsageError('--min-quantity is larger than --max-quantity, so that no quantity would do');
  }
  return present({ min, max });
}
