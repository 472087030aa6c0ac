import { expect, test } from 'vitest';
import { apply, openShop, type ShopRunOptions } from '../../support/shop.ts';

const openShopOfTwenty = () => openShop({ pets: 20, ids: 'small', limits: { minute: 100_000, day: 100_000 } });
const all = Array.from({ length: 20 }, (_, index) => index + 1);
const file = (column: string) => `petId,${column}\n${all.map((petId) => `${petId},1000\n`).join('')}`;
const failing = (petIds: readonly number[]) => petIds.map((petId) => `PATCH /inventory/${petId}:status=500`);
/** To a service that does not report its limit, one request is sent at a time. */
const oneByOne: ShopRunOptions = { around: async (send) => ({ ...(await send()), headers: {} }) };
const patches = (sent: readonly string[], path = '') =>
  sent.filter((request) => request.startsWith(`PATCH /v1/inventory/${path}`)).length;

test.for([
  [[3, 6, 9, 12, 15, 18], 'delta', oneByOne],
  [[1, 2, 3, 4, 5], 'delta', oneByOne],
  [[1, 2, 3, 4, 5], 'quantity', oneByOne],
  [[3, 6, 9, 12, 15, 18], 'quantity', {}],
] as const)(
  'writes all rows but those that the service always answers with 500: %j, %s',
  async ([bad, column, options]) => {
    const shop = await openShopOfTwenty();
    shop.service.setFaults([...failing(bad), 'PATCH /inventory/20:first=1:status=500']);
    const { code, sent, report } = await apply(shop, file(column), [], options);
    expect([code, report.counts]).toEqual([8, { ...report.counts, applied: 20 - bad.length, failed: bad.length }]);
    for (const petId of bad) expect(patches(sent, `${petId} `)).toBeLessThanOrEqual(5);
    shop.service.setFaults(failing(bad.slice(1)));
    const { counts } = await shop.json('inventory apply --resume latest --yes --json', options);
    expect(counts).toMatchObject({ applied: 21 - bad.length, failed: bad.length - 1 });
  },
);

test.for([0, 4])(
  'ends after 16 failed writes without success, and a resume begins with the other rows',
  async (retries) => {
    const shop = await openShopOfTwenty();
    shop.service.setFaults(failing(all.slice(0, 18)));
    const { code, sent, report } = await apply(shop, file('delta'), ['--retries', `${retries}`], oneByOne);
    expect([code, patches(sent), report.counts]).toMatchObject([5, 16, { failed: 16, notAttempted: 4 }]);
    const { counts } = await shop.json('inventory apply --resume latest --yes --json', oneByOne);
    expect(counts).toMatchObject({ applied: 2, failed: 18 });
  },
);

test('reads the stock at the end if no answer to a write made sense', async () => {
  const shop = await openShopOfTwenty();
  shop.service.setFaults(['PATCH /inventory/*:malform']);
  const { sent, report } = await apply(shop, file('delta'), [], oneByOne);
  expect(report.counts).toMatchObject({ applied: 16, notAttempted: 4, unknown: 0 });
  expect(sent.at(-1)).toBe('GET /v1/inventory');
});

test('does not wait for another try that it may not make', async () => {
  const shop = await openShopOfTwenty();
  shop.service.setFaults(failing([1]));
  const { sent } = await shop.exits('inventory adjust 1 +5 --retries 0', 5);
  expect([patches(sent), shop.clock.sleeps]).toEqual([1, []]);
});
