import { type FilterCriteria, filtered, firstItems } from '../../../inventory/filter.ts';
import { fieldNames, shownFields, textFields } from '../../../inventory/item-fields.ts';
import type { ItemBatches } from '../../../inventory/items.ts';
import { sortItems } from '../../../inventory/sort.ts';
import { inventoryListView, stockPage, summaryView } from '../../../output/inventory-view.ts';
import { withPage } from '../../../output/view.ts';
import { UsageError } from '../../../shared/errors.ts';
import { targetName } from '../../../shared/hint.ts';
import {
  define,
  fieldsOptionOf,
  known,
  listOf,
  type OptionsOf,
  oneOf,
  optionRows,
  quantity,
  wholeNumber,
} from '../command.ts';
import { chosenPets, petIdsOf } from '../option-values.ts';
import { type TextOptions, textOptions, textsOf } from './field-filters.ts';
import { requireFound, scanStock } from './find-pets.ts';

const listOptions = optionRows(
  ...textOptions('only pets with one of these'),
  [
    '--pet <id,…>',
    'only these pets, by id or name; exit code 9 if one of them is not in the list',
    listOf(known('pets')),
  ],
  ['--name <text>', 'only pets with this text in their name (names come from the setting codes)'],
  ['--min-quantity <n>', 'only a stock of n or more', quantity],
  ['--max-quantity <n>', 'only a stock of n or less', quantity],
  [
    '--low',
    'only pets that are running low: available, and at or below their level in the codes file, or else the setting low-stock',
  ],
  ['--sort <field>', `sort by one of the fields ${fieldNames.join(', ')}`, oneOf(fieldNames)],
  ['--desc', 'sort from the highest to the lowest'],
  ['--limit <n>', 'at most n pets', wholeNumber],
  fieldsOptionOf(
    shownFields,
    `only these columns, in this order: ${fieldNames.join(', ')}, and name if there are names`,
  ),
  ['--summary', 'count pets and units, by status and in total'],
);
type ListOptions = OptionsOf<typeof listOptions> & TextOptions;

export const listCommand = define({
  summary: 'list the stock levels of all pets',
  formats: withPage,
  description: 'Lists the stock levels of all pets, in the order of the service unless sorted. Sends one request.',
  options: listOptions,
  examples: [
    ['petstock inventory list'],
    ['petstock inventory list --low --sort quantity', 'what to order'],
    ['petstock inventory list -o csv > stock.csv'],
    ['petstock inventory list --summary --json'],
  ],
  run: async function* (invocation, options) {
    const { petIds, errors } = await petIdsOf(invocation, options.pet ?? [], { what: '--pet' });
    const selection = parseSelection(options, options.pet && new Set(petIds));
    const named = options.name === undefined ? [] : [{ petIds: await chosenPets(invocation, { name: options.name }) }];
    const remarks = await invocation.remarks();
    // With `--fields`, formats for programs also have the names of the sandbox.
    const { names } = options.fields === undefined ? remarks : await invocation.remarks('person');
    const shown = { low: remarks.low, names };
    await invocation.results.requireFields(inventoryListView([], shown));
    const { client } = await invocation.connections.connect({ isShown: true });
    const missing = new Set(selection.petIds);
    const criteria: FilterCriteria[] = [selection.criteria, ...(options.low ? [{ low: shown.low }] : []), ...named];
    const found = filtered(scanStock(invocation, client), criteria, missing);
    if (options.summary) {
      const { summarize } = await import('../../../inventory/summary.ts');
      yield summaryView(await summarize(found));
    } else {
      const title = targetName(invocation.target) + onlyText(options);
      const page = stockPage(title, shown.low, invocation.context.clock.now());
      yield inventoryListView(arrange(found, selection), { ...shown, page });
    }
    requireFound(invocation, [...missing], errors);
  },
});

/** Maximum number of ids that a heading lists. */
const maxNamed = 10;

/** Describes the filters for the heading of a page: `: low; name with "rabbit"`. */
function onlyText(options: ListOptions): string {
  const { low, name, pet: pets = [], minQuantity, maxQuantity, limit } = options;
  const only = [
    ...(low ? ['low'] : []),
    ...textFields.flatMap((field) => (options[field] ? [`${field} ${options[field].join(', ')}`] : [])),
    ...(name === undefined ? [] : [`name with "${name}"`]),
    ...(pets.length > maxNamed ? [`${pets.length} chosen pets`] : pets.length > 0 ? [`pets ${pets.join(', ')}`] : []),
    ...(minQuantity === undefined ? [] : [`${minQuantity} or more`]),
    ...(maxQuantity === undefined ? [] : [`${maxQuantity} or less`]),
    ...(limit === undefined ? [] : [`at most ${limit} pets`]),
  ];
  return only.length === 0 ? '' : `: ${only.join('; ')}`;
}

type Selection = ReturnType<typeof parseSelection>;

/**
 * Returns the filters, the order and the limit.
 * @throws UsageError for the first invalid option
 */
function parseSelection(options: ListOptions, petIds: ReadonlySet<bigint> | undefined) {
  const criteria = {
    texts: textsOf(options),
    petIds,
    minQuantity: options.minQuantity,
    maxQuantity: options.maxQuantity,
  };
  const { sort, desc = false } = options;
  if (options.summary && (sort ?? options.limit ?? options.fields ?? options.desc) !== undefined) {
    throw new UsageError(
      '--summary counts all pets that pass the filters. Leave out --sort, --desc, --limit and --fields',
    );
  }
  const order = sort !== undefined || desc ? { key: sort ?? 'petId', descending: desc } : undefined;
  return { criteria, petIds, sort: order, limit: options.limit };
}

/** Sorts or limits the items. Sorting reads all of them first. */
function arrange(batches: ItemBatches, { sort, limit, petIds }: Selection): ItemBatches {
  if (sort !== undefined) return sortItems(batches, { ...sort, limit });
  // With `--pet`, the rest is read, too, because a pet after the limit is not missing.
  return limit === undefined ? batches : firstItems(batches, limit, { toTheEnd: petIds !== undefined });
}
