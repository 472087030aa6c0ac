import { expect } from 'vitest';
import { openShop, test } from '../../support/shop.ts';

test('on a terminal, a service that takes more than a second is said to be waited for', async ({ shop }) => {
  const onSent = () => shop.clock.expireDeadlines(1000);
  const result = await shop.run('inventory get 4', { terminal: 100, onSent });
  expect(result.stderr).toContain(`Waiting for ${new URL(shop.service.url).origin} to answer GET /inventory`);
  const elsewhere = await shop.run('inventory get 4', { onSent });
  expect(elsewhere.stderr).not.toContain('Waiting for');
  expect((await shop.run('inventory get 4 --quiet', { terminal: 100, onSent })).stderr).toBe('');
});

test('a retry names the request, the status, and the words of the service in quotes', async () => {
  const shop = await openShop({ faults: ['GET /inventory:first=1:status=503'] });
  const { code, stderr } = await shop.run('inventory get 4');
  expect(code).toBe(0);
  expect(stderr).toMatch(/^GET \/inventory: the service answered 503, trying again \(1 of \d\)\.$/m);
});

test('a retry of a write names the pet', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/*:first=1:status=503'] });
  const { code, stderr } = await shop.run('inventory set 4 12');
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Pet 4: the service answered 503 \(".+"\); .+\.$/m);
});

test('at 60 columns the line about a retry of a write keeps its cause', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/*:first=1:status=503'] });
  const { stderr } = await shop.run('inventory set 4 12', { terminal: 60 });
  expect(stderr).toMatch(/Pet 4: the service answered 503 \("\S.*…; reading its stock/);
});
