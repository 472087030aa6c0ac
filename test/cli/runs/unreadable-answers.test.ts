import { expect } from 'vitest';
import { test } from '../../support/till.ts';

const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n';

test.for([
  ['an unrequested 101', upgrade, []],
  // The response may have been a 429, so the next request waits for 60 s.
  ['a response with two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}', [60_000]],
] as const)('reads the stock back after an adjust gets %s', async ([, head, waits], { till }) => {
  till.service.next('PATCH', (exchange) => {
    exchange.commit();
    exchange.raw(head);
  });
  const { code, stderr } = await till.run('inventory adjust 1 +5');
  expect({ code, stock: till.service.stockOf(1) }, stderr).toEqual({ code: 0, stock: 15 });
  const waited = till.clock.sleeps.reduce((sum, ms) => sum + ms, 0);
  expect(waited).toBeGreaterThanOrEqual(waits[0] ?? 0);
  expect(waited).toBeLessThan((waits[0] ?? 0) + 5000);
  expect(stderr).not.toContain('is unavailable');
});
