import type { Command } from 'commander';
import { parseQuantity } from '../../../inventory/values.ts';
import type { LogEntry, ServiceOptions } from '../../../service/index.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Output } from '../../context.ts';
import type { Run } from '../../invocation/invocation.ts';
import { sandboxFile, sandboxPlan, startSandbox } from '../../sandbox.ts';
import { examples } from '../command.ts';
import { collect, required } from '../values.ts';
import { count, type LimitOptions, limitsOf, planOf, plans } from './numbers.ts';

/** Where `sandbox serve` listens unless it is told otherwise. */
export const defaultPort = 4010;

interface ServeOptions extends LimitOptions {
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
  readonly log?: boolean;
}

export function defineServe(command: Command, run: Run): void {
  command
    .description('Serves the embedded service on a port, for any client, until Ctrl-C.')
    .option('--port <n>', `port; 0 takes a free one (default: ${defaultPort})`)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--expose', 'allow a --host that other machines reach')
    .option('--file <path>', 'database file; :memory: keeps nothing (default: that of --env sandbox)')
    .option('--pets <n>', 'how many pets a fresh stock has (default: 24)')
    .option('--seed <n>', 'seed of a fresh stock; the same seed gives the same stock (default: 1)')
    .option('--plan <plan>', `${plans.join(', ')} (default: ${sandboxPlan})`)
    .option('--limit-minute <n>', 'requests per minute, for an enterprise key')
    .option('--limit-day <n>', 'requests per day, for an enterprise key')
    .option('--window-seconds <n>', 'length of a minute, for tests (default: 60)')
    .option('--no-ban', 'never ban a key')
    .option('--ban-strikes <n>', 'refused requests in a minute before a ban (default: 10)')
    .option('--ban-seconds <n>', 'length of a ban (default: 300)')
    .option('--min-quantity <n>', 'smallest quantity that is accepted (default: none)')
    .option('--max-quantity <n>', 'largest quantity that is accepted (default: none)')
    .option('--fault <spec>', 'a fault to answer with, for people who test clients; may be given again', collect)
    .option('--admin-port <n>', 'a port for health, faults, the journal and the clock; 0 takes a free one')
    .option('--log', 'one JSON line per request on stderr; never the key')
    .addHelpText(
      'after',
      examples([
        ['petstock sandbox serve'],
        ['petstock sandbox serve --port 0 --file :memory: --json', 'for a script: one line with url and key'],
        ['petstock sandbox serve --limit-minute 20 --window-seconds 4', 'to see a rate limit at work'],
      ]),
    )
    .action(
      run<ServeOptions>(async (invocation, options) => {
        const { context, results } = invocation;
        const parsed = parseOptions(options);
        const kept = sandboxFile(context.folders.state, parsed.pets, parsed.seed);
        await requireExposed(options);
        const log = options.log ? { log: logTo(context.stderr) } : {};
        const service = await startSandbox(context, { file: kept, ...parsed, ...log });
        const { url, adminUrl: admin } = service;
        await invocation.messages.note(`Serving at ${url}. The key is ${service.key}. Ctrl-C ends it.`);
        if (admin !== null) await invocation.messages.note(`Administration at ${admin}.`);
        if (results.wantsJson) await results.write(`${JSON.stringify({ url, key: service.key, admin })}\n`);
        await ended(context.interrupted);
        await service.close();
      }),
    );
}

/** @throws UsageError for an address that other machines reach, without --expose */
async function requireExposed({ host, expose }: ServeOptions): Promise<void> {
  const { isLoopback } = await import('../../../service/index.ts');
  if (host === undefined || expose || isLoopback(host)) return;
  throw new UsageError(
    `Other machines would reach ${host}: the stock, and the keys on their way, which is plain HTTP`,
    {
      hint: `petstock sandbox serve --host ${host} --expose`,
    },
  );
}

/** A log whose reader has gone away is no reason to stop serving. */
function logTo(stderr: Output): (entry: LogEntry) => void {
  return (entry) => void stderr.write(`${JSON.stringify(entry)}\n`).catch(() => {});
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

type ParsedOptions = Omit<ServiceOptions, 'file' | 'key' | 'clock'> & { readonly file?: string };

/** @throws UsageError for the first option that makes no sense */
function parseOptions(options: ServeOptions): ParsedOptions {
  const min = quantity('--min-quantity', options.minQuantity);
  const max = quantity('--max-quantity', options.maxQuantity);
  return present({
    port: count('--port', options.port, 0, 65_535) ?? defaultPort,
    host: options.host,
    file: options.file,
    pets: count('--pets', options.pets, 0, 100_000_000),
    seed: count('--seed', options.seed, 0),
    plan: planOf(options.plan ?? sandboxPlan),
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
  });
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
