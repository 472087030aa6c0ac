import type { PetTotals } from '../inventory/totals.ts';
import { targetName } from '../shared/target.ts';
import { countColumn, differenceCell, nameColumn, numberColumn } from './columns.ts';
import { type Column, type Page, plainColumns, type Row, type View } from './view.ts';

/** The totals of a pet, with its name and its last stock, if they are known. */
export interface ShownTotals extends PetTotals {
  readonly name: string | undefined;
  readonly now: number | undefined;
}

const fields = ['petId', 'name', 'in', 'out', 'counted', 'unknown', 'now', 'env', 'store'];

/**
 * Returns the view of `history totals`. JSON is a list of
 * `{"petId","name","in","out","counted","unknown","now","env","store"}`.
 * @param options `target` is the target of the command; a table leaves out a column that only repeats it
 */
export function totalsView(totals: readonly ShownTotals[], { target, page }: { target: string; page: Page }): View {
  const rows = totals.map((each): Row => {
    const { petId, name = null, in: cameIn, out, counted, unknown, now = null, env, store = null } = each;
    return { petId, name, in: cameIn, out, counted, unknown, now, env, store };
  });
  const shown = rows.map((row, index): Row => ({ ...row, env: targetName(totals[index] ?? { env: '' }) }));
  const hasUnknown = totals.some(({ unknown }) => unknown > 0);
  const columns: Column[] = [
    numberColumn('petId', 'Pet ID'),
    nameColumn,
    countColumn('in', 'Came in'),
    countColumn('out', 'Went out'),
    {
      ...numberColumn('counted', 'Counted'),
      cell: (value, row, paint) => (value === 0n ? '0' : differenceCell(value, row, paint)),
    },
    ...(hasUnknown ? [countColumn('unknown', 'Not known')] : []),
    countColumn('now', 'Now'),
    { field: 'env', title: 'Env', foreign: 'name', usual: target },
  ];
  return { shape: 'list', columns: plainColumns(fields), rows: [rows], table: { columns, rows: [shown] }, page };
}
