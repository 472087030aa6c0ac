import { expect } from 'vitest';
import { test } from '../../support/till.ts';

test.for([
  ['adjust 1 +5', { code: 0, stock: 13 }],
  ['set 1 15 --expect 10', { code: 7, stock: 8 }],
] as const)('rereads the stock if %s was suspended before its write', async ([command, end], { till }) => {
  let sent = 0;
  const { code } = await till.run(`inventory ${command}`, {
    around: (send) => {
      sent += 1;
      if (sent === 2) {
        till.clock.advance(3000);
        till.service.sell(1, 2);
      }
      return send();
    },
  });
  expect({ code, stock: till.service.stockOf(1) }).toEqual(end);
});

test.for([
  ['adjust 2 +7', ['--max-wait', '2'], 2],
  ['set 3 5', ['--max-wait', '3'], 3],
] as const)('%s ends with 7 beside a stopped command, and names it', async ([command, options, seconds], { till }) => {
  let wake = () => {};
  const awake = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const stopped = till.run('inventory adjust 1 +5', {
    around: async (send) => {
      const answer = await send();
      await awake;
      return answer;
    },
  });
  await till.service.untilSeen('GET', 1);
  const words = ['inventory', ...command.split(' '), ...options];
  const { code, stderr, requests } = await till.run(words);
  expect({ code, requests }).toEqual({ code: 7, requests: [] });
  expect(stderr).toMatch(new RegExp(`For ${seconds} s, the service has been written to by .*Nothing was written`));
  wake();
  expect(await stopped).toMatchObject({ code: 0 });
});
