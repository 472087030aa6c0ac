import { expect, test } from 'vitest';
import { type ShownTotals, totalsView } from '../../src/output/history-views.ts';
import type { Page } from '../../src/output/view.ts';
import { render } from './render.ts';

const pet = (petId: bigint, more: Partial<ShownTotals> = {}) => {
  const none = { in: 0n, out: 0n, counted: 0n, unknown: 0, env: 'staging', store: undefined };
  return { petId, name: undefined, now: undefined, ...none, ...more } as unknown as ShownTotals;
};

test('shows totals, without columns that are empty or repeat the target', async () => {
  const totals = [pet(4n, { name: 'Rex', in: 1200n, out: 3n, counted: -2n, now: 12 } as object), pet(5n)];
  const lost = [...totals, pet(6n, { unknown: 1, env: 'production', store: 'north' } as object)];
  const table = (rows: readonly ShownTotals[]) =>
    render('table', totalsView(rows, { target: 'staging', page: {} as Page }), { width: 100 });
  expect(await table(totals)).toMatchInlineSnapshot(`
    "Pet ID  Name  Came in  Went out  Counted  Now
         4  Rex     1,200         3       -2   12
         5  -           0         0        0
    "
  `);
  expect(await table(lost)).toMatchInlineSnapshot(`
    "Pet ID  Name  Came in  Went out  Counted  Not known  Now  Env
         4  Rex     1,200         3       -2          0   12  staging
         5  -           0         0        0          0       staging
         6  -           0         0        0          1       north/production
    "
  `);
  expect(await render('csv', totalsView(lost, { target: 'staging', page: {} as Page }))).toMatchInlineSnapshot(`
    "petId,name,in,out,counted,unknown,now,env,store
    4,Rex,1200,3,-2,0,12,staging,
    5,,0,0,0,0,,staging,
    6,,0,0,0,1,,production,north
    "
  `);
});
