import { once } from 'node:events';
import { counted } from '../../../inventory/items.ts';
import type { RunningService, ServiceOptions } from '../../../service/index.ts';
import { variable } from '../../../settings/variables.ts';
import { InterruptedError, UsageError } from '../../../shared/errors.ts';
import { petstock, shellWord } from '../../../shared/hint.ts';
import type { Context } from '../../context.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { inMemory, ownKey, startSandbox } from '../../sandbox.ts';
import { define } from '../command.ts';
import { readStockFile } from './open-stock-file.ts';
import { defaultPort, readKey, type ServeOptions, serveOptions } from './sandbox-options.ts';

const keyVariable = 'PETSTOCK_SANDBOX_KEY';

export const serveCommand = define({
  summary: 'serve the sandbox on a port, for any client',
  formats: ['json', 'ndjson'],
  description:
    'Serves the sandbox on a port, for any client, until Ctrl-C. The options apply to this server only: with options for ' +
    'the stock, key, plan, limits or bans it works in memory, unless --file is given.',
  options: serveOptions,
  examples: [
    ['petstock sandbox serve'],
    ['petstock sandbox serve --port 0 --file :memory: --json', 'for a script: one line with url and key'],
    ['petstock sandbox serve --limit-minute 20 --window-seconds 4', 'to try out a rate limit'],
    ['petstock sandbox serve --import stock.csv --cors http://localhost:5173', 'for your own web page'],
  ],
  run: async (invocation, flags) => {
    const { context } = invocation;
    const values = withKeyOfVariable(flags, invocation);
    refuseContradictions(values);
    const options = await serviceOptions(invocation, values);
    await warnIfExposed(invocation, values);
    const service = await startSandbox(context, options);
    try {
      await checkStock(invocation, service, values);
      await announce(invocation, service, values);
      const hangup = new Promise<'hangup'>((resolve) => {
        context.onHangup(() => resolve('hangup'));
      });
      const end = context.interrupted.aborted || (await Promise.race([once(context.interrupted, 'abort'), hangup]));
      if (end === 'hangup') {
        throw new InterruptedError('The terminal was closed, or SIGHUP was sent', { signal: 'SIGHUP' });
      }
    } finally {
      await service.close();
    }
  },
});

function withKeyOfVariable(values: ServeOptions, { context }: Invocation): ServeOptions {
  const key = variable(context.env, keyVariable);
  return values.key !== undefined || key === undefined ? values : { ...values, key: readKey(key, keyVariable) };
}

/** @throws UsageError for options that can't be used together */
function refuseContradictions(values: ServeOptions): void {
  const { pets, seed, ids, minQuantity: min, maxQuantity: max } = values;
  const hint = 'petstock sandbox serve --help';
  if (values.import !== undefined && [pets, seed, ids].some((option) => option !== undefined)) {
    throw new UsageError('--import already gives a stock. Leave out --pets, --seed and --ids', { hint });
  }
  if (min !== undefined && max !== undefined && min > max) {
    throw new UsageError('--min-quantity is larger than --max-quantity, so no quantity would be accepted', { hint });
  }
}

/** Returns the options of the service. With options for the stock, key, plan, limits or bans it works in memory. */
async function serviceOptions({ context }: Invocation, values: ServeOptions): Promise<Partial<ServiceOptions>> {
  const { port = defaultPort, host, pets, seed, ids, key, plan, windowSeconds, cors, fault } = values;
  const { limitMinute, limitDay, ban, banStrikes, banSeconds } = values;
  const ofStock = [pets, seed, ids, values.import];
  const ofKey = [key, plan, limitMinute, limitDay, windowSeconds, ban, banStrikes, banSeconds];
  const isOwn = [...ofStock, ...ofKey].some((option) => option !== undefined && option !== true);
  const unlimited = Number.MAX_SAFE_INTEGER;
  const hasLimits = limitMinute !== undefined || limitDay !== undefined;
  return {
    ...{ port, host, pets, seed, ids, key, plan, windowSeconds, cors, faults: fault },
    file: values.file ?? (isOwn ? inMemory : undefined),
    limits: hasLimits ? { minute: limitMinute ?? unlimited, day: limitDay ?? unlimited } : undefined,
    ban: ban !== false && { strikes: banStrikes ?? 10, seconds: banSeconds ?? 300 },
    quantityBounds: { min: values.minQuantity, max: values.maxQuantity },
    ...(values.import !== undefined && {
      stock: { items: await readStockFile(values.import, context), orders: [] },
    }),
  };
}

async function warnIfExposed({ messages }: Invocation, { host }: ServeOptions): Promise<void> {
  const { isLoopback } = await import('../../../service/index.ts');
  if (host === undefined || isLoopback(host)) return;
  await messages.warn(`Other machines can reach the sandbox at ${host}, and its key is sent over plain HTTP.`);
}

/**
 * A stock is created only once, with the file.
 * @throws UsageError if an existing file has another number of pets than `--pets` asks for
 */
async function checkStock({ messages }: Invocation, { store }: RunningService, values: ServeOptions): Promise<void> {
  const { file = '', pets } = values;
  if (store.isNew) return;
  if (values.import !== undefined) {
    const remedy = petstock`sandbox import ${values.import} ${['--file', file]}`;
    await messages.warn(
      `The existing stock is kept, because --import only fills a new sandbox. To replace it: ${remedy}`,
    );
  }
  const found = store.count();
  if (pets === undefined || found === pets) return;
  throw new UsageError(
    `${file} already has ${counted(found, 'pet')}, and --pets ${pets} is only for a new file. Remove the file, or choose another one`,
    { hint: petstock`sandbox serve --file :memory: --pets ${pets}` },
  );
}

/** Prints the address. stderr shows the key only on a terminal, because it may be stored. JSON on stdout has it. */
async function announce({ context, messages, results }: Invocation, service: RunningService, values: ServeOptions) {
  const { url, key } = service;
  await messages.announce(`Serving at ${url}. Ctrl-C ends it.`);
  if (context.stderr.isTerminal) {
    await messages.note('To use it from another terminal:');
    await messages.note(`  export PETSTOCK_URL_STAGING=${url}`);
    await messages.note(`  export PETSTOCK_API_KEY_STAGING=${shellWord(key)}`);
  } else {
    await messages.note(whereKeyIs(context, key, values));
  }
  if (results.wantsJson) await results.write(`${JSON.stringify({ url, key })}\n`);
}

function whereKeyIs({ folders }: Pick<Context, 'folders'>, key: string, values: ServeOptions): string {
  if (values.key !== undefined) return 'The key is the one you gave.';
  return values.file !== inMemory && ownKey(folders.state) === key
    ? "The key is the sandbox's own. To show it: petstock sandbox info --json"
    : 'The key is shown with --json.';
}
