import { createServer } from 'node:http';
import { expect, vi } from 'vitest';
import { listening } from '../support/servers.ts';
import { openShop, openShopAnswering, type ShopRunOptions, test } from '../support/shop.ts';
import { createTestPager, type TestPagerOptions } from './test-pager.ts';

vi.setConfig({ testTimeout: 60_000 });

/** The list needs 26 rows: 24 pets, a header and the prompt. */
const screen = { terminal: 80, rows: 25 };

/** Lists 24 pets and a header, with and without a pager. */
async function list(options: ShopRunOptions & { readonly pager?: TestPagerOptions } = {}, flags = '') {
  const shop = await openShop();
  const pager = createTestPager(options.pager);
  const command = `inventory list --color never ${flags}`.trim();
  const { openPager } = pager;
  const result = await shop.exits(command, 0, [], { ...screen, openPager, ...options });
  const plain = await shop.run(command, { terminal: 80 });
  return { ...result, pager, plain: plain.stdout };
}

const itemsOf = (pets: number) =>
  Array.from({ length: pets }, (_, id) => `{"petId":${id},"quantity":7,"status":"available"}`).join(',');

/** Lists this many pets from a server without a rate limit. */
async function longList(pets: number, options: ShopRunOptions) {
  const shop = await openShopAnswering(200, `[${itemsOf(pets)}]`);
  return shop.run('inventory list --color never', { ...screen, ...options });
}

test('uses less to show a table that is longer than the terminal', async () => {
  const { stdout, stderr, pager, plain } = await list();
  expect(stdout).toBe('');
  expect(pager.text()).toBe(plain);
  expect(pager.commands).toMatchObject([
    { command: 'less', env: { LESS: 'FRXPsstaging  ?eq close:SPACE more, q close.$', LV: '-c', LESSSECURE: '1' } },
  ]);
  expect(stderr).toMatch(/^▸ staging\nRate limit: /);
});

test("passes the user's LESS to the pager, but no key or password", async () => {
  const url = 'postgresql://ann:psk_x@127.0.0.1:1/pets';
  const hidden = { PETSTOCK_NORTH_API_KEY_STAGING: 'psk_x', PETSTOCK_STATE_URL: url, PETSTOCK_SANDBOX_KEY: 'psk_x' };
  const { pager } = await list({ env: { LESS: '-i', ...hidden } });
  expect(pager.commands[0]?.env).toMatchObject({ LESS: '-i' });
  expect(Object.keys(pager.commands[0]?.env ?? {}).filter((name) => name.includes('KEY'))).toEqual([]);
  expect(JSON.stringify(pager.commands)).not.toContain('psk_x');
});

test.each<[string, ShopRunOptions, string]>([
  ['the screen holds the list and the prompt', { rows: 26 }, ''],
  ['the height is unknown', { rows: undefined }, ''],
  ['--no-pager', {}, '--no-pager'],
  ['PETSTOCK_PAGER=cat', { env: { PETSTOCK_PAGER: 'cat', PAGER: 'more' } }, ''],
  ['PAGER is empty', { env: { PAGER: '' } }, ''],
  ['TERM=dumb', { env: { TERM: 'dumb' } }, ''],
  ['stdout is a pipe', { terminals: ['stdin', 'stderr'] }, '-o table'],
  ['stdin is not a terminal', { terminals: ['stdout', 'stderr'] }, ''],
])('does not open a pager (%s)', async (_why, options, flags) => {
  const { stdout, pager, plain } = await list(options, flags);
  expect(stdout).toBe(plain);
  expect(pager.commands).toEqual([]);
});

test('counts a line wider than the terminal as several lines when it decides on a pager', async ({ shop }) => {
  const { openPager, text } = createTestPager();
  // Each of the 8 rows takes two lines of a terminal with 12 columns.
  await shop.exits('inventory list --limit 8 --sort petId --desc', 0, [], { terminal: 12, rows: 16, openPager });
  expect(text().trimEnd().split('\n')).toHaveLength(9);
});

const misnamed =
  /^▸ staging\nWarning: The pager "mroe -x" can't be run. To use another, set PETSTOCK_PAGER\.\nRate limit: /;

test.each([
  ['at once', undefined, /^▸ staging\nRate limit: /],
  ['in the end', undefined, /^▸ staging\nRate limit: /],
  ['at once', 'mroe -x', misnamed],
  ['in the end', 'mroe -x', misnamed],
] as const)(
  'prints the list itself if the pager is missing (noticed %s), and warns if PAGER named it',
  async (...row) => {
    const [isMissing, PAGER, said] = row;
    const { stdout, stderr, plain } = await list({ pager: { isMissing }, env: { PAGER } });
    expect(stdout).toBe(plain);
    expect(stderr).toMatch(said);
  },
);

test('prints the list itself if the pager ends with an error', async () => {
  const { stdout, stderr, plain } = await list({ pager: { fails: true } });
  expect(stdout).toBe(plain);
  expect(stderr).toMatch(
    /^▸ staging\nWarning: The pager "less" has failed\. To use another, set PETSTOCK_PAGER\.\nRate limit: /,
  );
});

test('prints the whole of a long list if the pager is missing', async () => {
  const whole = await longList(3000, { rows: undefined });
  for (const isMissing of ['at once', 'in the end'] as const) {
    const { openPager } = createTestPager({ isMissing });
    expect(await longList(3000, { openPager })).toMatchObject({ code: 0, stdout: whole.stdout });
  }
});

test('ends a list without an error if the pager is closed before the response ends', async ({ shop }) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write(`[${itemsOf(10_000)}`);
  });
  const env = { PETSTOCK_URL_STAGING: await listening(server) };
  const pager = createTestPager({ onRead: (text) => text.includes(' 8100 ') && setImmediate(() => pager.leave()) });
  const { openPager } = pager;
  expect(await shop.run('inventory list', { ...screen, openPager, env })).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/staging.*\n$/),
  });
});

test.each<[string, TestPagerOptions]>([
  ['has read 1000 characters', { readsOnly: 1000 }],
  ['reads on', {}],
])('stops the list on Ctrl-C, and waits until a pager that %s is closed', async (_how, reads) => {
  const interruption = new AbortController();
  const left: string[] = [];
  const pager = createTestPager({
    ...reads,
    stays: true,
    onRead: () => {
      interruption.abort(new (class extends Error {})('Ctrl-C'));
      setImmediate(() => {
        left.push('left');
        pager.leave();
      });
    },
  });
  const { stdout } = await longList(40_000, {
    openPager: pager.openPager,
    interrupted: interruption.signal,
    onStderr: (text) => text.startsWith('▸') || expect(left).toEqual(['left']),
  });
  expect(stdout).toBe('');
  expect(pager.text().length).toBeLessThan(1_000_000);
});

test('writes nothing to the terminal while the pager is open', async () => {
  const written: string[] = [];
  const note = (what: string) => (text: string) => void written.push(`${what} ${text.slice(0, 12)}`);
  const pager = createTestPager({
    stays: true,
    // Waits for the status in the last row, the only one that causes a warning.
    onRead: (text) => {
      if (!text.includes(' escaped')) return;
      setImmediate(() => {
        written.push('closed');
        pager.leave();
      });
    },
  });
  const openPager: typeof pager.openPager = (command) => {
    written.push('opened');
    return pager.openPager(command);
  };
  const last = '{"petId":10000,"quantity":7,"status":"escaped"}';
  const shop = await openShopAnswering(200, `[${itemsOf(10_000)},${last}]`);
  const streams = { onStderr: note('stderr'), onStdout: note('stdout') };
  await shop.exits('inventory list --color never', 0, [], { ...screen, openPager, ...streams });
  const afterwards = ['stderr Warning: The', expect.stringMatching(/^stderr │ escaped/)];
  expect(written).toEqual(['stderr ▸ staging\n', 'opened', 'closed', ...afterwards]);
});

test('reports an incomplete list on stderr even if a pager shows the list', async () => {
  const { openPager, text } = createTestPager();
  const shop = await openShopAnswering(200, `[${itemsOf(10_000)}`);
  await shop.exits('inventory list', 1, 'The list is incomplete.', { ...screen, openPager });
  expect(text().split('\n').length).toBeGreaterThan(1000);
});

test('does not open a pager for a report or a preview', async ({ shop }) => {
  const { openPager, commands } = createTestPager();
  const stdin = Array.from({ length: 10 }, (_, id) => `{"petId":${id + 1},"quantity":${id + 60}}`).join('\n');
  for (const mode of ['--dry-run', '--yes']) {
    await shop.exits(`inventory apply - --format ndjson ${mode}`, 0, [], { ...screen, rows: 10, openPager, stdin });
  }
  expect(commands).toEqual([]);
});
