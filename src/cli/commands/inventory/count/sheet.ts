import { noBarCodes } from '../../../../inventory/bar-codes.ts';
import { compareIds } from '../../../../inventory/item-fields.ts';
import { nameColumn, numberColumn } from '../../../../output/columns.ts';
import { localMinute } from '../../../../output/time.ts';
import type { Column, Row } from '../../../../output/view.ts';
import { petstock, targetName, withOption } from '../../../../shared/hint.ts';
import type { Invocation } from '../../../invocation/invocation.ts';

const codeColumns: readonly Column[] = [
  nameColumn,
  { field: 'petId', title: 'Pet', align: 'right' },
  { field: 'codes', title: 'Codes' },
];
/**
 * The level at which a pet must be reordered; shown if some pets have a level of their own. The sheet leaves out the
 * stock, because it could be copied instead of counted.
 */
const lowColumn = numberColumn('low', 'Low');
const boxColumns: readonly Column[] = [{ field: 'counted', title: 'Counted', whole: true, cell: () => '[__________]' }];

/**
 * Prints a blank sheet of all pets, by name, to count them by hand. Sends one request. Unless another format is named,
 * the sheet is a table on a terminal, and an HTML page elsewhere.
 */
export async function printSheet(invocation: Invocation): Promise<void> {
  const { results, messages, context, target } = invocation;
  const { pets, names, lows } = (await invocation.codes()) ?? noBarCodes;
  const columns = [...codeColumns, ...(lows.size > 0 ? [lowColumn] : []), ...boxColumns];
  await results.requireFields({ shape: 'list', columns, rows: [] });
  const { client } = await invocation.connections.connect({ isShown: true });
  const { standard } = (await invocation.remarks()).low;
  const codes = new Map<bigint, string[]>();
  for (const [code, petId] of pets) codes.set(petId, [...(codes.get(petId) ?? []), code]);
  const petIds = new Set<bigint>();
  for await (const items of client.scanInventory()) {
    for (const { petId } of items) petIds.add(petId);
  }
  const rows = [...petIds].sort(byNameIn(names)).map((petId): Row => {
    const low = lows.get(petId) ?? standard;
    return { name: names.get(petId) ?? null, petId, codes: codes.get(petId)?.join(', ') ?? null, low, counted: null };
  });
  const facts = [`Printed ${localMinute(context.clock.now())}. Counted by: ______________________`];
  const view = {
    shape: 'list' as const,
    columns,
    rows: [rows],
    page: { title: `Stock-take of ${targetName(target)}`, facts },
  };
  const isPage = !results.isFormatNamed && !context.stdout.isTerminal;
  await results.print(view, isPage ? { format: 'html' } : {});
  if (!results.isFormatNamed && !isPage)
    await messages.note(`To print it: ${petstock`${withOption(context.argv, '--output=html')}`} > sheet.html`);
}

/** Returns a comparison of pets by their names. Pets without a name come last, by their ids. */
function byNameIn(names: ReadonlyMap<bigint, string>) {
  return (one: bigint, other: bigint): number => {
    const [first, second] = [names.get(one), names.get(other)];
    if (first === undefined || second === undefined) {
      return first === second ? compareIds(one, other) : first === undefined ? 1 : -1;
    }
    return first.localeCompare(second) || compareIds(one, other);
  };
}
