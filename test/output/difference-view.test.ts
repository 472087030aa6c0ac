import { expect, test } from 'vitest';
import type { Difference } from '../../src/inventory/stock-list.ts';
import { differencesView } from '../../src/output/difference-view.ts';
import type { Format } from '../../src/output/view.ts';
import { type RenderTestOptions, render, visible } from './render.ts';

const side = (quantity: number, status = 'available') => ({ quantity, status });
const differences = [
  { petId: 4n, change: 'changed', left: side(1200), right: side(3, 'sold') },
  { petId: 5n, change: 'changed', left: side(1, ''), right: side(2, 'sold') },
  { petId: 6n, change: 'added', left: undefined, right: side(7) },
  { petId: 7n, change: 'removed', left: side(0, ''), right: undefined },
] as unknown as readonly Difference[];
const show = (format: Format, left: string, hasNames: boolean, options?: RenderTestOptions) => {
  const names = hasNames ? new Map([[4n, 'Rex']]) : undefined;
  return render(format, differencesView([differences], { left, right: 'now', names }), options);
};

test('prints differences as NDJSON and CSV, with null for what a side lacks', async () => {
  expect(await show('ndjson', 'a', true)).toMatchInlineSnapshot(`
    "{"petId":4,"change":"changed","left":{"quantity":1200,"status":"available"},"right":{"quantity":3,"status":"sold"},"name":"Rex"}
    {"petId":5,"change":"changed","left":{"quantity":1,"status":null},"right":{"quantity":2,"status":"sold"},"name":null}
    {"petId":6,"change":"added","left":null,"right":{"quantity":7,"status":"available"},"name":null}
    {"petId":7,"change":"removed","left":{"quantity":0,"status":null},"right":null,"name":null}
    "
  `);
  expect(await show('csv', 'a', false)).toMatchInlineSnapshot(`
    "petId,change,leftQuantity,leftStatus,rightQuantity,rightStatus
    4,changed,1200,available,3,sold
    5,changed,1,,2,sold
    6,added,,,7,available
    7,removed,0,,,
    "
  `);
});

test('shows differences in a table, with the names of the sides', async () => {
  const shown = await show('table', 'stock-2026-01.csv', true, { width: 100, color: true });
  expect(visible(shown)).toMatchInlineSnapshot(`
    "␛[1mPet ID␛[22m  ␛[1mChange␛[22m   ␛[1m…ock-2026-01.csv␛[22m  ␛[1mnow␛[22m      ␛[1mBy␛[22m  ␛[1mStatus␛[22m            ␛[1mName␛[22m
         4  ␛[33mchanged␛[39m             1,200    3  ␛[31m-1,197␛[39m  available → sold  Rex
         5  ␛[33mchanged␛[39m                 1    2      ␛[32m+1␛[39m  sold              ␛[2m-␛[22m
         6  ␛[32madded␛[39m                   ␛[2m-␛[22m    7          available         ␛[2m-␛[22m
         7  ␛[31mremoved␛[39m                 0    ␛[2m-␛[22m                            ␛[2m-␛[22m
    "
  `);
  expect((await show('table', 'stock-2026-1.csv', false, { width: 100 })).split('\n')[0]).toMatchInlineSnapshot(
    `"Pet ID  Change   stock-2026-1.csv  now      By  Status"`,
  );
});
