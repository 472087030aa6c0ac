import type { Command } from 'commander';
import type { LogEntry } from '../../../service/index.ts';
import { UsageError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { Output } from '../../context.ts';
import type { Run } from '../../invocation/invocation.ts';
import { requirePets, sandboxPlan, startSandbox } from '../../sandbox.ts';
import { examples } from '../command.ts';
import { collect } from '../values.ts';
import { plans } from './numbers.ts';
import { defaultPort, parseOptions, type ServeOptions } from './serve-options.ts';

export function defineServe(command: Command, run: Run): void {
  command
    .description(
      'Serves the embedded service on a port, for any client, until Ctrl-C. Options are of this server alone: one with a stock, limits or windows of its own is in memory, unless --file names a database that keeps them.',
    )
    .option('--port <n>', `port; 0 takes a free one (default: ${defaultPort})`)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--expose', 'allow a --host that other machines reach')
    .option(
      '--file <path>',
      'database file; :memory: keeps nothing (default: that of --env sandbox, or :memory: with options of its own)',
    )
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
    .option('--admin-token <token>', 'bearer token of the administration port (default: a new one)')
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
        await requireExposed(options);
        await requirePets(parsed.file, parsed.pets);
        const log = options.log ? { log: logTo(context.stderr) } : {};
        const service = await startSandbox(context, { ...parsed, ...log });
        const { url, adminUrl: admin, adminToken } = service;
        await invocation.messages.note(`Serving at ${url}. The key is ${service.key}. Ctrl-C ends it.`);
        if (admin !== null) await invocation.messages.note(`Administration at ${admin}. The token is ${adminToken}.`);
        if (results.wantsJson) await results.write(`${JSON.stringify({ url, key: service.key, admin, adminToken })}\n`);
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
      hint: `petstock sandbox serve --host ${shellWord(host)} --expose`,
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
