import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { listening } from '../../support/answering.ts';
import { openTeam } from '../../support/team.ts';

test("sends one request at a time from a machine that can't reach the database", async () => {
  let [underWay, most, answered] = [0, 0, 0];
  const url = await listening(
    createServer((_request, response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      answered += 1;
      const headers = {
        'content-type': 'application/json',
        'x-ratelimit-limit': '100',
        'x-ratelimit-remaining': String(100 - answered),
        'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3600),
      };
      // Any other request would have arrived by now.
      setTimeout(() => {
        underWay -= 1;
        response.writeHead(200, headers).end('[{"petId":4,"quantity":1,"status":"sold"}]');
      }, 100);
    }),
  );
  const till = await (await openTeam('postgresql://ann:secret@127.0.0.1:1/pets')).machine('till');
  const env = { PETSTOCK_URL_STAGING: url };
  expect(await till.run('inventory get 4', { env })).toMatchObject({ code: 0 });
  const results = await Promise.all([1, 2, 3, 4].map(() => till.run('inventory get 4', { env })));
  expect(results.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(['', '', '', '']);
  expect([answered, most]).toEqual([5, 1]);
});
