import { filtered } from '../../../inventory/filter.ts';
import { isLow, parsePetStatus, unreadableText } from '../../../inventory/items.ts';
import { type Difference, StockList } from '../../../inventory/stock-list.ts';
import { counted, parsePetId } from '../../../inventory/values.ts';
import type { Paint } from '../../../output/terminal.ts';
import type { Format } from '../../../output/view.ts';
import { seenChangesLines, seenChangesView, watchHeading } from '../../../output/watch-view.ts';
import { decide } from '../../../rate-limit/rules.ts';
import { ChangesFound, FailureError, UsageError } from '../../../shared/errors.ts';
import { whereName } from '../../../shared/where.ts';
import type { Connection } from '../../invocation/connect.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { collect, define, fieldsOption } from '../define.ts';
import { listOf } from '../option-values.ts';
import { lowStockOf, UnreadablePets } from './stock.ts';
import { secondsText, type WatchOptions, watchChanges } from './watch-changes.ts';

const defaultInterval = 15;

export const defineWatch = define({
  description:
    'Looks at the stock again and again, and prints a line for each change: with the time on a terminal, as NDJSON elsewhere. ' +
    'Takes one request a look, and never more than a tenth of the rate limit: if that is less, it looks less often and ' +
    'says so. It goes on whatever the service answers, unless the key is not accepted (401). Ctrl-C ends it with 0.',
  options: [
    ['--interval <s>', `seconds from one look to the next (default: ${defaultInterval})`],
    ['--pet <id,…>', 'only these pets', collect],
    ['--status <s,…>', 'only pets that have, or had until then, one of these statuses', collect],
    ['--low', 'only what falls to or below the setting low-stock, and is available'],
    ['--for <s>', 'end after this many seconds'],
    ['--first', 'exit 0 after the first look that finds a change; exit 3 if --for ends without one'],
    ['--now', 'begin with the stock as it is now'],
    fieldsOption,
  ],
  examples: [
    ['petstock inventory watch --for 2 --interval 1', 'for two seconds'],
    [
      'petstock inventory watch --low --first --for 3 || echo "nothing is running out"',
      'wait until something runs out',
    ],
    ['petstock inventory watch --pet 4,5 --now --for 1 -o ndjson', 'for a script'],
  ],
  action: async (invocation, flags) => {
    const interval = secondsOf('--interval', flags.interval) ?? defaultInterval;
    if (interval < leastInterval) throw new UsageError(`--interval takes ${leastInterval} seconds or more`);
    const duration = secondsOf('--for', flags.for);
    const { low = false, first = false, now = false } = flags;
    await runWatch(invocation, {
      ...{ interval: interval * 1000, duration: duration && duration * 1000, low, first, now },
      petIds: listOf(flags.pet, '--pet', parsePetId),
      statuses: listOf(flags.status, '--status', parsePetStatus),
      format: formatOf(invocation),
    });
  },
});

/** Seconds: no stock is looked at more often, whatever the limit. */
const leastInterval = 0.1;

/** Returns undefined if the option is absent. */
function secondsOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,7}(\.\d{1,3})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError(`${option} takes a number of seconds, such as 15; not "${text}"`);
}

/** A JSON array has no end here: with --json it is a line for each change too. */
function formatOf({ globals, config, context }: Invocation): Format {
  const chosen = (globals.json ? 'json' : globals.output) ?? config.settings.output;
  if (chosen === undefined) return context.stdout.isTerminal ? 'table' : 'ndjson';
  return chosen === 'json' ? 'ndjson' : (chosen as Format);
}

interface RunWatchOptions extends Pick<WatchOptions, 'interval' | 'duration' | 'first' | 'now'> {
  readonly petIds: ReadonlySet<bigint> | undefined;
  readonly statuses: ReadonlySet<string> | undefined;
  readonly low: boolean;
  /** `table`: a line for a person. */
  readonly format: Format;
}

/** Prints what changes. @throws AuthError after a 401; ChangesFound if a first change was waited for in vain */
async function runWatch(invocation: Invocation, options: RunWatchOptions): Promise<void> {
  const { results, context } = invocation;
  const connection = await invocation.service.connectToRead({ bulk: true });
  const names = await invocation.petNames();
  const lowStock = lowStockOf(invocation);
  const { format } = options;
  let [changes, isFirst] = [0, true];
  try {
    for await (const facts of watchChanges(watchOptions(invocation, connection, options))) {
      if (!facts.isPresent) changes += facts.changes.length;
      // Each look is written whole before the next: should stdout have no reader any more, that shows itself at once.
      if (format === 'table') {
        const heading = isFirst ? [watchHeading] : [];
        const lines = (paint: Paint, width: number) => seenChangesLines(facts, names, { lowStock, width, paint });
        await results.show((paint, width) => [...heading.map(paint.dim), ...lines(paint, width)]);
      } else {
        await results.print(seenChangesView(facts, names), { format, ...(!isFirst && { header: false }) });
      }
      isFirst = false;
    }
  } catch (error) {
    if (!context.interrupted.aborted) throw error;
    return;
  }
  if (options.first && changes === 0) throw new ChangesFound('Nothing has changed');
}

function watchOptions(invocation: Invocation, connection: Connection, options: RunWatchOptions): WatchOptions {
  const { context, messages, service, where } = invocation;
  const { clock, interrupted } = context;
  const { petIds, interval, duration, first, now } = options;
  const counts = counterOf(options, lowStockOf(invocation));
  let unreadable = new UnreadablePets();
  let current = connection;
  return {
    ...{ clock, interrupted, interval, duration, first, now, counts, messages },
    look: async (signal) => {
      current = await service.connectAgain();
      const found = new UnreadablePets();
      const batches = current.client.scanInventory({ once: true, signal, onUnreadable: found.add });
      const list = await StockList.gather(filtered(batches, [{ petIds }]));
      const repeated = list.repeated();
      if (repeated !== undefined) {
        throw new FailureError(`The answer to GET /inventory makes no sense: pet ${repeated} is there twice`);
      }
      for (const item of found.values()) {
        if (unreadable.has(item.petId) || petIds?.has(item.petId) === false) continue;
        await messages.warn(`${unreadableText(item)}: no change of it is seen until it can be read`);
      }
      unreadable = found;
      return { list, unreadable };
    },
    limits: () => {
      const { windows } = current.state.limits.peek(current.scope);
      return { minute: windows.minute?.limit, day: windows.day?.limit };
    },
    opensAt: () => {
      const known = current.state.limits.peek(current.scope);
      const decision = decide(known, clock.monotonic(), { bulk: true, least: 1 });
      return decision.go ? 0 : (decision.until ?? 0);
    },
    onBegin: async (list) => {
      const present = new Set(petIds && list.petIds());
      const missing = [...(petIds ?? [])].filter((petId) => !present.has(petId) && !unreadable.has(petId));
      if (missing.length > 0) await messages.warn(`not in the list yet: ${missing.slice(0, 20).join(', ')}`);
      const what = `${counted(list.size, 'pet')} of ${whereName(where)}`;
      await messages.note(`Watching ${what}, every ${secondsText(interval)}. Ctrl-C ends it.`);
    },
  };
}

function counterOf({ statuses, low }: RunWatchOptions, lowStock: number): (change: Difference) => boolean {
  return ({ left, right }) => {
    if (low) {
      if (right === undefined || !isLow(right, lowStock)) return false;
      const wasLow = left !== undefined && isLow(left, lowStock);
      if (wasLow && right.quantity >= left.quantity) return false;
    }
    return statuses === undefined || statuses.has(left?.status ?? '') || statuses.has(right?.status ?? '');
  };
}
