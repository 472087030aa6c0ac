import type { Command } from 'commander';
import type { LogEntry, RunningService, Stock } from '../../../service/index.ts';
import { UsageError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { Output } from '../../context.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { openSandbox, requirePets, sandboxPlan, startSandbox } from '../../sandbox.ts';
import { examples } from '../command.ts';
import { collect } from '../values.ts';
import { plans } from './numbers.ts';
import { serveKey } from './serve-key.ts';
import { defaultPort, drainOf, parseOptions } from './serve-options.ts';
import { type ServeValues, serveValues } from './serve-values.ts';
import { readStockFile } from './stock-file.ts';

export function defineServe(command: Command, run: Run): void {
  command.description(
    'Serves the embedded service on a port, for any client, until Ctrl-C. Options are of this server alone: one with a stock, limits or windows of its own is in memory, unless --file or --database names a store that keeps them. Each option is also PETSTOCK_SERVE_<NAME>, and a name in the file of --config.',
  );
  addStoreOptions(command);
  addLimitOptions(command);
  addHostingOptions(command);
  command
    .addHelpText(
      'after',
      examples([
        ['petstock sandbox serve'],
        ['petstock sandbox serve --port 0 --file :memory: --json', 'for a script: one line with url and key'],
        ['petstock sandbox serve --limit-minute 20 --window-seconds 4', 'to see a rate limit at work'],
        ['petstock sandbox serve --import stock.csv --cors http://localhost:5173', 'for a web page of your own'],
      ]),
    )
    .action(run<Readonly<Record<string, unknown>>>((invocation, flags) => serve(invocation, flags)));
}

function addStoreOptions(command: Command): void {
  command
    .option(
      '--file <path>',
      'database file; :memory: keeps nothing (default: that of --env sandbox, or :memory: with options of its own)',
    )
    .option('--database <url>', 'a PostgreSQL in place of a file, for several servers: postgres://user@host:5432/name')
    .option('--import <file>', 'stock of a new store: CSV or JSON, as `sandbox import` reads it')
    .option('--pets <n>', 'how many pets a fresh stock has (default: 24)')
    .option('--seed <n>', 'seed of a fresh stock; the same seed gives the same stock (default: 1)')
    .option(
      '--ids <kind>',
      'large: some ids are beyond 2^53; small: none is, for tools that keep 53 bits (default: large)',
    )
    .option('--key <value>', 'the key, 16 to 128 visible ASCII characters (default: that of the sandbox)')
    .option('--key-file <file>', 'file of the key, made where it is missing; the key is then shown nowhere')
    .option('--min-quantity <n>', 'smallest quantity that is accepted (default: none)')
    .option('--max-quantity <n>', 'largest quantity that is accepted (default: none)');
}

function addLimitOptions(command: Command): void {
  command
    .option('--plan <plan>', `${plans.join(', ')} (default: ${sandboxPlan})`)
    .option('--limit-minute <n>', 'requests per minute, for an enterprise key')
    .option('--limit-day <n>', 'requests per day, for an enterprise key')
    .option('--window-seconds <n>', 'length of a minute, for tests (default: 60)')
    .option('--no-ban', 'never ban a key')
    .option('--ban-strikes <n>', 'refused requests in a minute before a ban (default: 10)')
    .option('--ban-seconds <n>', 'length of a ban (default: 300)')
    .option('--address-limit <n>', 'requests without a valid key per minute and address (default: 600)')
    .option('--no-address-limit', 'answer 401 to any number of them');
}

function addHostingOptions(command: Command): void {
  command
    .option('--port <n>', `port; 0 takes a free one (default: ${defaultPort})`)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--expose', 'allow a --host or --admin-host that other machines reach')
    .option('--tls-cert <file>', 'certificate with its chain, PEM; read again at SIGHUP')
    .option('--tls-key <file>', 'its key, PEM')
    .option('--trust-proxy <cidr>', 'network whose X-Forwarded-For is believed; may be given again', collect)
    .option('--keep-alive <seconds>', 'how long an idle connection is kept (default: 75)')
    .option('--cors <origin>', 'web page that may call it, or *; may be given again', collect)
    .option('--fault <spec>', 'a fault to answer with, for people who test clients; may be given again', collect)
    .option('--admin-port <n>', 'a port for probes, metrics, stock, faults and the clock; 0 takes a free one')
    .option('--admin-host <address>', 'address of that port (default: loopback)')
    .option('--admin-token <token>', 'bearer token of that port (default: a new one)')
    .option('--drain <seconds>', 'how long /readyz fails before it stops listening (default: 0)')
    .option('--log', 'one JSON line per request on stderr; never the key')
    .option('--config <file>', 'a JSON object with these options by name: {"port": 8080, "plan": "pro"}');
}

async function serve(invocation: Invocation, flags: Readonly<Record<string, unknown>>): Promise<void> {
  const { context, messages } = invocation;
  const warnings: string[] = [];
  const values = serveValues({ flags, env: context.env, warn: (line) => warnings.push(line) });
  for (const warning of warnings) await messages.warn(`${warning}.`);
  const { options, imported } = await serviceOptions(invocation, values);
  const service = await startSandbox(context, options);
  try {
    if (imported?.isUsed() === false) {
      await messages.warn(
        'The stock that is there is kept; --import is for a new one. To replace it: petstock sandbox import',
      );
    }
    // Without a certificate it means what it means to others: the terminal is gone, and with it this server.
    if (options.tls !== undefined) context.onHangup(() => void reload(invocation, service));
    await announce(invocation, service, values);
    await ended(context.interrupted);
    service.drain();
    await context.clock.sleep(drainOf(values));
  } finally {
    await service.close();
  }
}

async function serviceOptions({ context }: Invocation, values: ServeValues) {
  const parsed = parseOptions(values);
  drainOf(values);
  await requireExposed(values);
  if (values.database === undefined) await requirePets(parsed.file, parsed.pets);
  const key = await serveKey(values);
  const imported =
    values.import === undefined ? undefined : observed(await readStockFile(values.import, context.stdin.chunks));
  const options = {
    ...parsed,
    ...(values.log === true ? { log: logTo(context.stderr) } : {}),
    ...(key === undefined ? {} : { key }),
    ...(imported === undefined ? {} : { stock: imported.stock }),
  };
  return { options, imported };
}

/** A stock that tells whether it was taken: only a new store takes one. */
function observed(stock: Stock) {
  let used = false;
  const items = {
    [Symbol.iterator]: () => {
      used = true;
      return stock.items[Symbol.iterator]();
    },
  };
  return { stock: { ...stock, items }, isUsed: () => used };
}

/**
 * Says where it listens. Key and token are shown to a person on a terminal, and on stdout where it is asked for JSON: what stderr
 * goes to otherwise is a log.
 */
async function announce({ context, messages, results }: Invocation, service: RunningService, values: ServeValues) {
  const { url, adminUrl: admin, adminToken, key } = service;
  const isSecret = values['key-file'] !== undefined;
  await messages.note(`Serving at ${url}. Ctrl-C ends it.`);
  if (context.stderr.isTerminal) {
    await messages.note('To use it from another terminal:');
    await messages.note(`  export PETSTOCK_URL_STAGING=${url}`);
    if (isSecret)
      await messages.note(`  export PETSTOCK_API_KEY_STAGING="$(cat ${shellWord(values['key-file'] ?? '')})"`);
    else await messages.note(`  export PETSTOCK_API_KEY_STAGING=${shellWord(key)}`);
    if (admin !== null) await messages.note(`Administration at ${admin}. The token is ${adminToken}.`);
  } else {
    await messages.note(await whereKeyIs(context.folders.state, key, values));
    if (admin !== null)
      await messages.note(`Administration at ${admin}. The token is shown with --json, or set by --admin-token.`);
  }
  if (!results.wantsJson) return;
  await results.write(`${JSON.stringify({ url, key: isSecret ? null : key, admin, adminToken })}\n`);
}

async function whereKeyIs(
  stateFolder: string,
  key: string,
  { 'key-file': file, key: given }: ServeValues,
): Promise<string> {
  if (file !== undefined) return `The key is in ${file}.`;
  if (given !== undefined) return 'The key is the one that was given.';
  const sandbox = await openSandbox(stateFolder);
  return sandbox.key === key
    ? 'The key is that of the sandbox: petstock sandbox info'
    : 'The key is shown with --json.';
}

async function reload({ messages }: Invocation, service: RunningService): Promise<void> {
  try {
    service.reloadTls();
    await messages.note('The certificate was read again.');
  } catch (error) {
    await messages.alert(`Warning: ${(error as Error).message}. The previous one stays in use.`);
  }
}

/** @throws UsageError for an address that other machines reach, without --expose */
async function requireExposed(values: ServeValues): Promise<void> {
  const { isLoopback } = await import('../../../service/index.ts');
  if (values.expose === true) return;
  for (const option of ['host', 'admin-host'] as const) {
    const host = values[option];
    if (host === undefined || isLoopback(host)) continue;
    const how = values['tls-cert'] === undefined ? ', and the keys on their way, which is plain HTTP' : '';
    throw new UsageError(`Other machines would reach ${host}: the stock${how}`, {
      hint: `petstock sandbox serve --${option} ${shellWord(host)} --expose`,
    });
  }
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
