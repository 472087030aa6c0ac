import { createServer } from 'node:net';
import { describe, expect } from 'vitest';
import { type Action, commitThenDrop, drop, hang, hold, tenEach } from '../../support/scripted-service.ts';
import { portOf } from '../../support/servers.ts';
import { openTill, type Till, test } from '../../support/till.ts';
import { openClosingPort, openTlsFront } from '../../support/tls.ts';

/** Responds to nothing until the client has given up. */
const stalls =
  ({ clock }: Till, before: Action = hang): Action =>
  async (exchange) => {
    await before(exchange);
    clock.passDeadlines();
  };

describe('a single write ends within two time-outs', () => {
  const commits: Action = (exchange) => exchange.commit();

  test.for<[what: string, script: (till: Till) => void, end: { code: number; patches: number; gets: number }]>([
    [
      'hangs',
      (till) => {
        till.service.always('PATCH', stalls(till));
        till.service.always('GET', stalls(till));
      },
      { code: 8, patches: 1, gets: 2 },
    ],
    [
      'hangs at each write',
      (till) => void till.service.always('PATCH', stalls(till)),
      { code: 8, patches: 2, gets: 1 },
    ],
    [
      'hangs at each write, and carries it out',
      (till) => void till.service.always('PATCH', stalls(till, commits)),
      { code: 0, patches: 1, gets: 1 },
    ],
    ['drops each write', (till) => void till.service.always('PATCH', drop), { code: 8, patches: 2, gets: 2 }],
    [
      'drops the answers',
      (till) => void till.service.always('PATCH', commitThenDrop),
      { code: 0, patches: 1, gets: 1 },
    ],
    [
      'drops everything',
      (till) => {
        till.service.always('PATCH', drop);
        till.service.always('GET', drop);
      },
      { code: 8, patches: 1, gets: 5 },
    ],
  ])('if the service %s', async ([_what, script, end], { till }) => {
    script(till);
    const began = till.clock.monotonic();
    const { code, stderr } = await till.run('inventory set 1 12');
    const [patches, gets] = ['PATCH', 'GET'].map((method) => till.service.seen(method).length);
    expect({ code, patches, gets }, stderr).toEqual(end);
    expect((till.clock.monotonic() - began) / 1000).toBeLessThanOrEqual(61);
    if (code === 8) expect(stderr).toMatch(/not known whether .*\n(.*\n)*Hint: petstock/i);
  });
});

test('ends within two time-outs if the service hangs before a question', async ({ till }) => {
  till.service.always('GET', stalls(till));
  const began = till.clock.monotonic();
  const { requests } = await till.exits('inventory set 1 12', 5, /Nothing was written/, { terminal: 100 });
  expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  expect((till.clock.monotonic() - began) / 1000).toBeLessThanOrEqual(61);
});

describe('a single write that never left', () => {
  test.for<[what: string, urlOf: (till: Till) => Promise<string>, said: RegExp, tries: number]>([
    [
      'its certificate is not trusted',
      async ({ service }) => `https://127.0.0.1:${(await openTlsFront(service.url)).port}/v1`,
      /certificate of the service .* is not trusted.*Nothing was written/,
      1,
    ],
    [
      'no TLS handshake ends',
      async ({ clock }) => `https://127.0.0.1:${await portOf(createServer(clock.passDeadlines))}/v1`,
      /Can't reach the service.*Nothing was written/,
      2,
    ],
    [
      'each connection is closed',
      async () => `https://${(await openClosingPort()).host}/v1`,
      /Can't reach the service.*Nothing was written/,
      5,
    ],
  ])('leaves no open run and no pet that waits, and ends in time: %s', async ([_why, urlOf, said, tries], { till }) => {
    const { clock, service } = till;
    const began = clock.monotonic();
    const { requests } = await till.exits('inventory set 1 12', 5, said, {
      env: { PETSTOCK_URL_STAGING: await urlOf(till) },
    });
    expect(requests.map(({ method }) => method)).toEqual(Array(tries).fill('PATCH'));
    expect((clock.monotonic() - began) / 1000).toBeLessThanOrEqual(61);
    expect((await till.history()).map(({ state }) => state)).not.toContain('incomplete');
    const sleeps = clock.sleeps.length;
    await till.exits('inventory set 1 12', 0);
    expect({ stock: service.stockOf(1), sleeps: clock.sleeps.length }).toEqual({ stock: 12, sleeps });
  });
});

test.for(['inventory adjust 1 +5', 'inventory apply FILE'])(
  'reads a list that takes longer than 10 s while others write: %s',
  async (command, { till }) => {
    const { service, clock } = till;
    const file = till.file('a.csv', 'petId,delta\n1,5\n');
    const slow = hold();
    // A bulk run plans by a list that it has read before its first turn. It is too old for a delta after this question.
    const confirm = async () => {
      clock.advance(3000);
      service.next('GET', stalls(till), slow.action);
      return true;
    };
    const isApply = command.endsWith('FILE');
    if (!isApply) await confirm();
    const began = clock.monotonic();
    const words = `${command.replace('FILE', file)} --timeout 60`;
    const written = till.run(words, isApply ? { terminal: 100, prompts: { confirm } } : {});
    await slow.reached;
    expect(clock.monotonic() - began).toBeLessThan(15_000);
    await till.exits('inventory set 1 20', 0);
    clock.advance(40_000);
    slow.release();
    expect(await written).toMatchObject({ code: 0 });
    expect(service.stockOf(1)).toBe(25);
  },
);

test('writes another pet while the answer to a write is late', async () => {
  const till = await openTill({ limit: { limit: 60, seconds: 60 } });
  const slow = hold();
  // While nothing is known of the limit, one request is sent at a time.
  await till.run('inventory list');
  till.service.next('PATCH', slow.action);
  const late = till.run('inventory set 1 12');
  await slow.reached;
  till.clock.expireDeadlines(3000);
  await till.exits('inventory set 2 9', 0);
  slow.release();
  expect(await late).toMatchObject({ code: 0 });
});

test('does not call it a rate limit if a read may not wait for the requests of other commands', async ({ till }) => {
  const first = hold();
  till.service.next('GET', first.action);
  const other = till.run('inventory list');
  await first.reached;
  const { stderr, requests } = await till.exits(
    'inventory list --max-wait 0',
    6,
    /^Error: Requests of other commands/m,
  );
  expect(stderr).not.toMatch(/rate limited|possible again|petstock limits/i);
  expect(requests).toEqual([]);
  first.release();
  expect(await other).toMatchObject({ code: 0 });
});

test.for([-3_600_000, 3_600_000])(
  "estimates the wait of a plan by the service's clock if the local clock is off by %i ms",
  async (wrongBy) => {
    const till = await openTill({ stock: tenEach(130), limit: { limit: 60, seconds: 60 } });
    const clock = { ...till.clock, now: () => till.clock.now() + wrongBy };
    const rows = Array.from({ length: 130 }, (_, index) => `${index + 1},12\n`);
    const file = till.file('a.csv', `petId,quantity\n${rows.join('')}`);
    await till.exits(`inventory apply ${file} --dry-run`, 0, '131 requests: about 2 min at 60 a minute', { clock });
  },
);
