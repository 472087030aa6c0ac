import { type Difference, type OrderedItems, ordered } from '../../../inventory/differences.ts';
import { createFilter } from '../../../inventory/filter.ts';
import { gatherItems } from '../../../inventory/gather-items.ts';
import { grouped } from '../../../inventory/grouped.ts';
import type { ColumnBatches, ItemColumns } from '../../../inventory/item-columns.ts';
import { repeatedId } from '../../../inventory/order-by-id.ts';
import { formatDuration } from '../../../output/time.ts';
import type { Format } from '../../../output/view.ts';
import { type SeenFacts, seenChangesLines, seenChangesView } from '../../../output/watch-view.ts';
import { ChangesFound, FailureError } from '../../../shared/errors.ts';
import { whereName } from '../../../shared/where.ts';
import type { Connection } from '../../invocation/connect.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { watchReader } from './reader-gone.ts';
import { lowStockOf } from './stock.ts';
import { UnreadableLooks } from './unreadable-looks.ts';
import { UnreadablePets } from './unreadable-pets.ts';
import { type WatchOptions, watchChanges } from './watch-changes.ts';

export interface RunWatchOptions extends Pick<WatchOptions, 'interval' | 'duration' | 'first'> {
  readonly petIds: ReadonlySet<bigint> | undefined;
  readonly statuses: ReadonlySet<string> | undefined;
  /** Only what falls to or below the setting `low-stock`. */
  readonly low: boolean;
  /** `table`: a line for a person. */
  readonly format: Format;
}

/**
 * Watches the stock and prints what changes, until it is interrupted, its time is over or its reader has gone away.
 * @throws ClosedPipeError; AuthError after a 401; ChangesFound where a first change was waited for in vain
 */
export async function runWatch(invocation: Invocation, options: RunWatchOptions): Promise<void> {
  const { results, context } = invocation;
  const connection = await invocation.service.connect({ bulk: true });
  const seen = { changes: 0 };
  const reader = watchReader(context);
  const ended = AbortSignal.any([context.interrupted, reader.signal]);
  const source = counted(watchChanges(watchOptions(invocation, connection, options, ended)), seen);
  try {
    if (options.format === 'table') {
      for await (const facts of source) await results.show((paint) => seenChangesLines(facts, paint));
    } else await results.print(seenChangesView(source), { format: options.format });
  } catch (error) {
    // Ctrl-C is how it ends.
    if (!context.interrupted.aborted) throw error;
    return;
  } finally {
    reader.stop();
  }
  if (options.first && seen.changes === 0) throw new ChangesFound('Nothing has changed');
}

async function* counted(source: AsyncIterable<SeenFacts>, seen: { changes: number }): AsyncGenerator<SeenFacts> {
  for await (const facts of source) {
    seen.changes += facts.changes.length;
    yield facts;
  }
}

function watchOptions(
  invocation: Invocation,
  connection: Connection,
  options: RunWatchOptions,
  interrupted: AbortSignal,
): WatchOptions {
  const { context, messages, where } = invocation;
  const { client, state, scope } = connection;
  const { clock } = context;
  const { petIds, interval } = options;
  const counts = counterOf(options, lowStockOf(invocation));
  const unreadable = new UnreadableLooks(petIds);
  return {
    clock,
    interrupted,
    interval,
    duration: options.duration,
    first: options.first,
    look: async (into, signal) => {
      const look = new UnreadablePets();
      const batches = client.scanInventory({ once: true, signal, onUnreadable: look.add });
      const list = await lookOnce(batches, petIds, into);
      for (const line of unreadable.looked(look)) await messages.warn(line);
      return list;
    },
    limits: () => {
      const { windows } = state.limits.peek(scope);
      return { minute: windows.minute?.limit, day: windows.day?.limit };
    },
    counts: (change) => !unreadable.hides(change) && counts(change),
    onBegin: async (list) => {
      const absent = petIds === undefined ? [] : missingIn(list, petIds);
      const missing = absent.filter((petId) => !unreadable.hides({ petId }));
      if (missing.length > 0) await messages.warn(`not in the list yet: ${missing.slice(0, 20).join(', ')}`);
      const what = `${grouped(list.length)} ${list.length === 1 ? 'pet' : 'pets'} of ${whereName(where)}`;
      await messages.note(`Watching ${what}, every ${secondsText(interval)}. Ctrl-C ends it.`);
    },
    onFault: (error) =>
      messages.alert(`${error.message}. No changes are seen until it answers; petstock keeps looking`),
    onBack: (after) => messages.note(`The service answers again, after ${formatDuration(after / 1000)}.`),
    onSlower: (slower, why) => {
      const reason = why === 'limit' ? 'more would be over a tenth of the rate limit' : 'the service answered 429';
      return messages.note(`Looking every ${secondsText(slower)} at most: ${reason}.`);
    },
    onTooShort: (wait) =>
      messages.warn(
        `no change can be seen: --for ends before the next look, which can't leave sooner than ${secondsText(wait)} after the last`,
      ),
  };
}

async function lookOnce(
  batches: ColumnBatches,
  petIds: ReadonlySet<bigint> | undefined,
  into: ItemColumns | undefined,
): Promise<OrderedItems> {
  const list = ordered(await gatherItems(narrowed(batches, petIds), into));
  const repeated = repeatedId(list.items, list.order);
  if (repeated === undefined) return list;
  throw new FailureError(`The answer to GET /inventory makes no sense: pet ${repeated} is there twice`);
}

async function* narrowed(batches: ColumnBatches, petIds: ReadonlySet<bigint> | undefined): AsyncGenerator<ItemColumns> {
  const only = createFilter({ petIds });
  for await (const batch of batches) {
    only(batch);
    yield batch;
  }
}

function counterOf({ statuses, low }: RunWatchOptions, lowStock: number): (change: Difference) => boolean {
  return ({ left, right }) => {
    const falls = left !== undefined && right !== undefined && right.quantity < left.quantity;
    if (low && !(falls && right.quantity <= lowStock)) return false;
    return statuses === undefined || statuses.has(left?.status ?? '') || statuses.has(right?.status ?? '');
  };
}

function missingIn(list: ItemColumns, petIds: ReadonlySet<bigint>): bigint[] {
  const present = new Set(list.items().map(({ petId }) => petId));
  return [...petIds].filter((petId) => !present.has(petId));
}

/** `1.5 s`; from a minute on in minutes. */
function secondsText(ms: number): string {
  return ms < 60_000 ? `${Math.ceil(ms / 100) / 10} s` : formatDuration(ms / 1000);
}
