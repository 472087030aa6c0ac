import type { Command } from 'commander';
import { UsageError } from '../../errors.ts';
import { createFilter, type ItemFilter } from '../../inventory/filter.ts';
import { type InventoryItem, type ItemBatches, isPetStatus, petStatuses } from '../../inventory/items.ts';
import { isSortKey, itemComparator, sortKeys } from '../../inventory/sort.ts';
import { summarize } from '../../inventory/summary.ts';
import { type Parsed, parsePetId, parseQuantity } from '../../inventory/values.ts';
import type { Run } from '../../invocation/invocation.ts';
import { type InventoryField, inventoryListView, parseFields } from '../../output/inventory-view.ts';
import { summaryView } from '../../output/summary-view.ts';
import { examples } from '../command.ts';
import { collect, listOf, quantityOf, required } from '../values.ts';
import { lowStockOf, readStock } from './stock.ts';

interface ListOptions {
  readonly status?: readonly string[];
  readonly pet?: readonly string[];
  readonly minQuantity?: string;
  readonly maxQuantity?: string;
  readonly sort?: string;
  readonly desc?: boolean;
  readonly limit?: string;
  readonly fields?: string;
  readonly summary?: boolean;
}

export function registerList(inventory: Command, run: Run): void {
  inventory
    .command('list')
    .summary('list the stock levels of all pets')
    .description('Lists the stock levels of all pets, in the order of the service unless sorted. Takes one request.')
    .option('--status <s,…>', `only these: ${petStatuses.join(', ')}`, collect)
    .option('--pet <id,…>', 'only these pets', collect)
    .option('--min-quantity <n>', 'only a stock of n or more')
    .option('--max-quantity <n>', 'only a stock of n or less')
    .option('--sort <field>', sortKeys.join(', '))
    .option('--desc', 'sort from the highest to the lowest')
    .option('--limit <n>', 'at most n pets')
    .option('--fields <f,…>', 'only these columns, in this order: petId, quantity, status')
    .option('--summary', 'count pets and units by status, and in all')
    .addHelpText(
      'after',
      examples([
        ['petstock inventory list'],
        ['petstock inventory list --status available --max-quantity 5 --sort quantity', 'what to order'],
        ['petstock inventory list -o csv > stock.csv'],
        ['petstock inventory list --summary --json'],
      ]),
    )
    .action(
      run<ListOptions>(async (invocation, options) => {
        const selection = parseSelection(options);
        const { client } = await invocation.connect();
        const found = filterItems(readStock(invocation, client), selection.filter);
        if (options.summary) return invocation.print(summaryView(await summarize(found)));
        const { fields } = selection;
        const view = inventoryListView(arrange(found, selection), { lowStock: lowStockOf(invocation), fields });
        await invocation.print(view);
      }),
    );
}

interface Selection {
  readonly filter: ItemFilter;
  readonly compare: ReturnType<typeof itemComparator> | undefined;
  readonly limit: number | undefined;
  readonly fields: readonly InventoryField[] | undefined;
}

/** @throws UsageError for the first option that makes no sense */
function parseSelection(options: ListOptions): Selection {
  const filter = createFilter({
    statuses: listOf(options.status, '--status', parseStatus),
    petIds: listOf(options.pet, '--pet', parsePetId),
    minQuantity: quantityOf(options.minQuantity, '--min-quantity'),
    maxQuantity: quantityOf(options.maxQuantity, '--max-quantity'),
  });
  const { sort, desc = false } = options;
  if (options.summary && (sort ?? options.limit ?? options.fields ?? options.desc) !== undefined) {
    throw new UsageError(
      '--summary counts all that the filters let through: leave out --sort, --desc, --limit and --fields',
    );
  }
  if (sort !== undefined && !isSortKey(sort)) {
    throw new UsageError(`--sort takes ${sortKeys.join(', ')}; "${sort}" is none of them.`);
  }
  const compare = sort !== undefined || desc ? itemComparator(sort ?? 'petId', desc) : undefined;
  const limit = options.limit === undefined ? undefined : required(parseLimit(options.limit));
  const fields = options.fields === undefined ? undefined : required(parseFields(options.fields), '--fields');
  return { filter, compare, limit, fields };
}

function parseStatus(text: string): Parsed<string> {
  if (isPetStatus(text)) return { ok: true, value: text };
  return { ok: false, fault: `"${text}" is no status: there are ${petStatuses.join(', ')}` };
}

function parseLimit(text: string): Parsed<number> {
  const parsed = parseQuantity(text);
  if (parsed.ok && parsed.value >= 0) return parsed;
  return { ok: false, fault: `--limit takes a whole number from 0, such as 10; "${text}" is none` };
}

async function* filterItems(batches: ItemBatches, filter: ItemFilter): AsyncGenerator<readonly InventoryItem[]> {
  for await (const batch of batches) yield batch.filter(filter);
}

/** Sorts, which needs all items at once, and cuts, which needs no more than it shows. */
async function* arrange(batches: ItemBatches, { compare, limit }: Selection): AsyncGenerator<readonly InventoryItem[]> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  for await (const batch of compare ? sorted(batches, compare) : batches) {
    if (left <= 0) return;
    yield batch.slice(0, left);
    left -= batch.length;
  }
}

async function* sorted(batches: ItemBatches, compare: NonNullable<Selection['compare']>) {
  const items: InventoryItem[] = [];
  for await (const batch of batches) {
    for (const item of batch) items.push(item);
  }
  yield items.sort(compare);
}
