import { createServer } from 'node:http';
import { expect, vi } from 'vitest';
import { answering, listening } from '../support/answering.ts';
import { createTestPager, type TestPagerOptions } from '../support/pager.ts';
import { openShop, type ShopRunOptions, test } from '../support/shop.ts';

vi.setConfig({ testTimeout: 60_000 });

/** 24 pets and a header, on a terminal of so many lines. */
async function list(options: ShopRunOptions & { readonly pager?: TestPagerOptions } = {}, flags = '') {
  const shop = await openShop();
  const pager = createTestPager(options.pager);
  const command = `inventory list --color never ${flags}`.trim();
  const { openPager } = pager;
  const result = await shop.run(command, { terminal: 80, rows: 24, openPager, ...options });
  const plain = await shop.run(command, { terminal: 80 });
  return { ...result, pager, plain: plain.stdout, rateLimit: `Rate limit: 998 of 1000 left, resets in 40 s\n` };
}

/** A list of so many pets from a server that says nothing of a rate limit. */
async function longList(pets: number, options: ShopRunOptions, status = 'available') {
  const items = Array.from({ length: pets }, (_, id) => `{"petId":${id},"quantity":7,"status":"${status}"}`);
  const shop = await openShop();
  const env = { PETSTOCK_URL_STAGING: await answering(200, `[${items.join(',')}]`) };
  return shop.run('inventory list --color never', { terminal: 80, rows: 24, ...options, env });
}

test('a table that is longer than the terminal goes through less, as git starts it', async () => {
  const { code, stdout, stderr, pager, plain } = await list();
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(pager.text()).toBe(plain);
  expect(pager.commands.map(({ command }) => command)).toEqual(['less']);
  expect(pager.commands[0]?.env).toMatchObject({
    LESS: 'FRXPsstaging  ?eq close:SPACE more, q close.$',
    LV: '-c',
    LESSSECURE: '1',
  });
  expect(stderr).toMatch(/^▸ staging\nRate limit: /);
});

test('it gets no key or password, and the LESS that is set', async () => {
  const url = 'postgresql://ann:psk_x@127.0.0.1:1/pets';
  const hidden = { PETSTOCK_NORTH_API_KEY_STAGING: 'psk_x', PETSTOCK_STATE_URL: url, PETSTOCK_SERVE_DATABASE: url };
  const { pager } = await list({ env: { LESS: '-i', ...hidden } });
  expect(pager.commands[0]?.env).toMatchObject({ LESS: '-i' });
  expect(Object.keys(pager.commands[0]?.env ?? {}).filter((name) => name.includes('KEY'))).toEqual([]);
  expect(JSON.stringify(pager.commands)).not.toContain('psk_x');
});

test.each([
  [{ PAGER: 'more' }, 'more'],
  [{ PAGER: 'more', PETSTOCK_PAGER: 'less -S' }, 'less -S'],
])('%o names another', async (env, command) => {
  const { code, pager } = await list({ env });
  expect(code).toBe(0);
  expect(pager.commands.map((started) => started.command)).toEqual([command]);
});

test.each<[string, ShopRunOptions, string]>([
  ['a screen that holds all and the prompt', { rows: 26 }, ''],
  ['a height that is not known', { rows: undefined }, ''],
  ['--no-pager', {}, '--no-pager'],
  ['-q', {}, '-q'],
  ['-o tsv', {}, '-o tsv'],
  ['-o json', {}, '--json'],
  ['PETSTOCK_PAGER=cat', { env: { PETSTOCK_PAGER: 'cat', PAGER: 'more' } }, ''],
  ['PETSTOCK_PAGER empty', { env: { PETSTOCK_PAGER: '', PAGER: 'more' } }, ''],
  ['PAGER empty', { env: { PAGER: '' } }, ''],
  ['TERM=dumb', { env: { TERM: 'dumb' } }, ''],
  ['stdout to a pipe', { terminals: ['stdin', 'stderr'] }, '-o table'],
  ['nobody at the keyboard', { terminals: ['stdout', 'stderr'] }, ''],
])('no pager: %s', async (_why, options, flags) => {
  const { code, stdout, pager, plain } = await list(options, flags);
  expect(code).toBe(0);
  expect(stdout).toBe(plain);
  expect(pager.commands).toEqual([]);
});

test('a line that is wider than the terminal counts as the lines that it takes', async ({ shop }) => {
  const pager = createTestPager();
  const rows = 16;
  // 8 rows of 20 digits and more on a terminal of 12 columns.
  const { code } = await shop.run('inventory list --limit 8 --sort petId --desc', {
    ...{ terminal: 12, rows, openPager: pager.openPager },
  });
  expect(code).toBe(0);
  expect(pager.text().trimEnd().split('\n').length).toBeLessThan(rows - 1);
});

test.each(['at once', 'in the end'] as const)('without a pager, which is seen %s: plain', async (isMissing) => {
  const { code, stdout, stderr, plain } = await list({ pager: { isMissing } });
  expect({ code, stdout }).toEqual({ code: 0, stdout: plain });
  expect(stderr).toMatch(/^▸ staging\nRate limit: /);
});

test.each(['at once', 'in the end'] as const)('one that was named is warned about: %s', async (isMissing) => {
  const { code, stdout, stderr, plain } = await list({ pager: { isMissing }, env: { PAGER: 'mroe -x' } });
  expect({ code, stdout }).toEqual({ code: 0, stdout: plain });
  expect(stderr).toMatch(
    /^▸ staging\nWarning: the pager "mroe -x" can't be run; PETSTOCK_PAGER names another\nRate limit: /,
  );
});

test('a long list that a missing pager has not read is shown whole', async () => {
  for (const isMissing of ['at once', 'in the end'] as const) {
    const { openPager } = createTestPager({ isMissing });
    const { code, stdout } = await longList(10_000, { openPager });
    expect(code).toBe(0);
    expect(stdout).toBe((await longList(10_000, { rows: undefined })).stdout);
  }
});

test('who leaves the pager early ends the command quietly', async () => {
  const { openPager, text } = createTestPager({ leavesAfter: 1000 });
  const { code, stdout, stderr } = await longList(100_000, { openPager });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '▸ staging\n' });
  expect(text().length).toBeLessThan(1_000_000);
});

test('a list that the service does not end can be left', async () => {
  const items = Array.from({ length: 30_000 }, (_, id) => `{"petId":${id},"quantity":7,"status":"sold"}`);
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write(`[${items.join(',')}`);
  });
  const url = await listening(server);
  const shop = await openShop();
  const pager = createTestPager({ onRead: () => setImmediate(() => pager.leave()) });
  const { code, stderr } = await shop.run('inventory list', {
    ...{ terminal: 80, rows: 24, openPager: pager.openPager },
    env: { PETSTOCK_URL_STAGING: url },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/staging.*\n$/) });
});

test.each([{ readsOnly: 1000 }, {}])('Ctrl-C stops the list, and waits until the pager is left: %o', async (reads) => {
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
  const { openPager } = pager;
  const { stdout } = await longList(100_000, {
    ...{ openPager, interrupted: interruption.signal },
    onStderr: (text) => text.startsWith('▸') || expect(left).toEqual(['left']),
  });
  expect(stdout).toBe('');
  expect(pager.text().length).toBeLessThan(1_000_000);
});

test('nothing is written to the terminal while the pager has it', async () => {
  const written: string[] = [];
  const pager = createTestPager({ stays: true, onRead: () => setImmediate(() => pager.leave()) });
  const onRead = (stream: string) => (text: string) => void written.push(`${stream} ${text.slice(0, 12)}`);
  const { code } = await longList(
    300,
    { openPager: pager.openPager, onStderr: onRead('stderr'), onStdout: onRead('stdout') },
    'escaped',
  );
  expect(code).toBe(0);
  expect(written).toEqual(['stderr ▸ staging\n', 'stderr Warning: the', expect.stringMatching(/^stderr │ escaped/)]);
});

test('a fault in the middle is said behind the pager', async ({ shop }) => {
  const pager = createTestPager();
  const items = Array.from({ length: 30_000 }, (_, id) => `{"petId":${id},"quantity":7,"status":"sold"}`);
  const { code, stderr } = await shop.run('inventory list', {
    ...{ terminal: 80, rows: 24, openPager: pager.openPager },
    env: { PETSTOCK_URL_STAGING: await answering(200, `[${items.join(',')}`) },
  });
  expect(code).toBe(1);
  expect(pager.text().split('\n').length).toBeGreaterThan(1000);
  expect(stderr).toContain('The list is not whole.');
});

test('the report of what was written is not paged, that of a dry run is', async ({ shop }) => {
  const { openPager, commands } = createTestPager();
  const changes = Array.from({ length: 10 }, (_, id) => `{"petId":${id + 1},"quantity":${id + 60}}`).join('\n');
  const options = {
    terminal: 80,
    rows: 10,
    openPager,
    stdin: changes,
    terminals: ['stdout', 'stderr', 'stdin'],
  } as const;
  expect((await shop.run('inventory apply - --format ndjson --yes', options)).code).toBe(0);
  expect(commands).toEqual([]);
  expect((await shop.run('inventory apply - --format ndjson --dry-run', options)).code).toBe(0);
});
