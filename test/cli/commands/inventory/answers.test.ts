import { expect } from 'vitest';
import type { Action } from '../../../support/scripted-service.ts';
import { answering } from '../../../support/servers.ts';
import { errorJson, test as shopTest } from '../../../support/shop.ts';
import { openTill, test } from '../../../support/till.ts';

shopTest('shows and counts an unknown status unchanged, and warns once', async ({ shop }) => {
  const body = '[{"petId":1,"quantity":5,"status":"lost"},{"petId":2,"quantity":5,"status":"eaten"}]';
  const env = { PETSTOCK_URL_STAGING: await answering(200, body) };
  const { code, stdout, stderr } = await shop.run('inventory list', { env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^1\t5\tlost\b.*\n2\t5\teaten\b.*\n$/) });
  expect(stderr.match(/^Warning: .*\n│ lost$/gm)).toHaveLength(1);
  expect(stderr.match(/^Warning/gm)).toHaveLength(1);
  const { byStatus } = await shop.json('inventory list --summary --json', { env });
  expect(Object.keys(byStatus)).toEqual(['available', 'pending', 'sold', 'eaten', 'lost']);
});

shopTest.for([
  ['[{"petId":1,"quantity":5}]', '"status" in item 1 of the response is missing'],
  ['[{"petId":1,', 'is not valid JSON'],
  ['<html><body>Log in</body></html>', 'is HTML'],
])(
  'exits with 1 and prints nothing on stdout for a malformed response: %s',
  async ([body = '', told = ''], { shop }) => {
    const env = { PETSTOCK_URL_STAGING: await answering(200, body) };
    const { code, stdout, stderr } = await shop.run('inventory list', { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`Error: The response to GET /inventory `);
    expect(stderr).toContain(told);
    expect(stderr).not.toContain('experimental');
  },
);

const four = '{"petId":4,"quantity":12,"status":"available"}';

shopTest.for([
  [
    'set 4 12',
    '{"petId":4}',
    /^$/,
    '"quantity" in the response is missing. The service calls this operation experimental',
  ],
  ['set 5 12', four, /^$/, 'It is not known whether the stock of pet 5 was set to 12'],
  ['set 4 13', four, /^4\t12\tavailable\t/, 'Error: The service set the stock of pet 4 to 12, not to 13.\n'],
] as const)('inventory %s exits with 8 after the response %s', async ([words, body, printed, told], { shop }) => {
  // Reading the stock back returns the same body, which is not a list.
  const env = { PETSTOCK_URL_STAGING: await answering(200, body) };
  const { code, stdout, stderr } = await shop.run(`inventory ${words}`, { env });
  expect({ code, stdout }).toEqual({ code: 8, stdout: expect.stringMatching(printed) });
  expect(stderr).toContain(told);
});

const rows = 'petId,quantity\n1,5\n2,6\n3,7\n';

const moved: Action = ({ answer }) => answer(302, '', { location: '/v1/elsewhere' });
const committedMoved: Action = (exchange) => {
  exchange.commit();
  return moved(exchange);
};
const bulk = 'apply - --yes --concurrency 1';

test.for<
  [what: string, command: string, action: Action, ends: [code: number, sent: string], counts: object, message: string]
>([
  [
    'a set of one pet',
    'set 1 5',
    moved,
    [8, 'PATCH GET'],
    { unknown: 1 },
    'whether the stock of pet 1 was set to 5: The service redirected',
  ],
  ['an adjust', 'adjust 1 +5', moved, [1, 'GET PATCH GET'], { failed: 1, unknown: 0 }, 'redirected a PATCH with'],
  [
    'a row of a file after writing it',
    bulk,
    committedMoved,
    [8, 'GET PATCH GET'],
    { applied: 1, notAttempted: 2, unknown: 0 },
    '',
  ],
  [
    'a row of a file without writing it',
    bulk,
    moved,
    [1, 'GET PATCH GET'],
    { failed: 1, notAttempted: 2, applied: 0 },
    'No change has reached the stock so far',
  ],
])('rereads the stock if the service redirects %s', async ([, command, action, ends, counts, message]) => {
  const till = await openTill();
  till.service.always('PATCH', action);
  const { code, stdout, stderr, requests } = await till.run(`inventory ${command} --json`, { stdin: rows });
  expect([code, requests.map(({ method }) => method).join(' ')]).toEqual(ends);
  expect((stdout === '' ? (await till.history())[0] : JSON.parse(stdout)).counts).toMatchObject(counts);
  expect(errorJson(stderr).error.message).toContain(message);
});

test('reports that it rereads the stock of redirected rows', async ({ till: { service, run } }) => {
  service.always('PATCH', moved);
  const { stderr } = await run('inventory apply - --yes --concurrency 3 --json', { stdin: rows });
  expect(stderr).toContain('reading the stock.\n');
});
