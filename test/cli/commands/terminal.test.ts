import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { wipeLine } from '../../../src/output/terminal.ts';
import { answering } from '../../support/answering.ts';
import { confirming, openShop, type ShopRunOptions, test } from '../../support/shop.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Sets the title of the window, fills the clipboard, goes up a line, turns text around. */
const hostile = 'a\x1b]0;title\x07b\x1b]52;c;ZXZpbA==\x07c\x1b[1Ad\x9b2Je\u202ef\u2066g\u061ch\rI\bJ\x7fK';
/** All that may be in what a terminal gets, but for paint and the drawing of a line. */
const allowed =
  /^(?:[^\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\x1b\[(?:1|2|22|31|32|33|36|39)m)*$/;

async function run(command: string | readonly string[], body: string, options: ShopRunOptions = {}, status = 200) {
  const shop = await openShop();
  return shop.run(command, { env: { PETSTOCK_URL_STAGING: await answering(status, body) }, terminal: 80, ...options });
}

function expectHarmless({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): void {
  for (const text of [stdout, stderr]) expect(text.replaceAll(wipeLine, '')).toMatch(allowed);
}

const list = JSON.stringify([{ petId: 1, quantity: 2, status: hostile }]);

test.each([
  'inventory export',
  'inventory list',
  'inventory list -o csv --no-header --fields status',
  'inventory list -o tsv',
  'inventory list -o json',
  'inventory list -o ndjson',
  'api GET /inventory',
  'orders list',
  'inventory set 1 5',
])('%s does no harm to a terminal', async (command) => {
  for (const body of [list, list.replaceAll('\\u001b', '\x1b'), `[{"${hostile}":1}]`]) {
    const shop = await openShop();
    const options = { env: { PETSTOCK_URL_STAGING: await answering(200, body) }, terminal: 80 };
    for (const debug of ['', ' --debug']) expectHarmless(await shop.run(`${command}${debug}`, options));
  }
});

test('what --debug shows of a failure does no harm, also where it was decoded', async () => {
  const twice = String.raw`{"a":1,"\u001b]52;c;ZXZpbA==\u0007":1,"\u001b]52;c;ZXZpbA==\u0007":2}`;
  for (const terminals of [undefined, ['stderr'] as const]) {
    const result = await run('orders list --debug', twice, { terminals });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain('SyntaxError');
    expectHarmless(result);
  }
});

test('to a pipe the bytes are as they came', async () => {
  expect(await run('api GET /inventory', list, { terminals: ['stderr'] })).toMatchObject({ stdout: list });
  const csv = await run('inventory list -o csv --no-header --fields status', list, { terminals: ['stderr'] });
  expect(csv.stdout).toBe(`"${hostile}"\n`);
});

test('questions are one harmless line', async ({ shop }) => {
  mkdirSync(shop.folders.state, { recursive: true });
  const file = join(shop.folders.state, 'a\x1b[2J\nb\u202e.csv');
  writeFileSync(file, 'mine');
  const { asked, prompts } = confirming(false);
  expect((await shop.run(['inventory', 'export', file], { terminal: 80, prompts })).code).toBe(2);
  await shop.run('config set confirm always');
  const path = '/inventory/1?\x1b]0;x\x07\u202e';
  await shop.run(['api', 'PATCH', path, '--data', '{}'], { terminal: 80, prompts });
  expect(asked).toHaveLength(2);
  for (const question of asked) expect(question).toMatch(/^[ -~…]+$/);
});

test('config path does no harm', async ({ shop }) => {
  const folders = { ...shop.folders, config: `${shop.folders.config}\x1b]0;x\x07\u202e` };
  expectHarmless(await shop.run('config path', { terminal: 80, folders }));
  expect((await shop.run('config path', { folders })).stdout).toContain('\x1b]0;x\x07');
});

test('our own colours survive', async () => {
  const { stdout } = await run('inventory list --color always', list);
  expect(stdout).toContain('\x1b[1mPet ID\x1b[22m');
});

test.for(['inventory watch --for 1', 'inventory diff staging production'])(
  '%s names where it reads',
  async (command, { shop }) => {
    const url = shop.service.url;
    const env = { PETSTOCK_URL_PRODUCTION: url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key, NO_COLOR: '1' };
    const places = command.includes('diff') ? '▸ staging\n▸ production\n' : '▸ staging\n';
    expect((await shop.run(command, { terminal: 80, env })).stderr.startsWith(places)).toBe(true);
    expect((await shop.run(command, { env })).stderr).not.toContain('▸');
  },
);

test.for(['inventory list', 'inventory list --summary', 'inventory get 4'])(
  '%s names production in red',
  async (command, { shop }) => {
    const env = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
    const { stderr } = await shop.run(`${command} --env production --color always`, { env, terminal: 80 });
    expect(stderr).toMatch(/^\x1b\[36m▸\x1b\[39m \x1b\[1m\x1b\[31mproduction\x1b\[39m\x1b\[22m\n/);
  },
);

test('at a terminal the rate limit has its digits grouped, and is dim until a quarter is left', async () => {
  const plenty = await (await openShop()).run('inventory list', { terminal: 80 });
  expect(plenty.stderr).toContain('\x1b[2mRate limit: 999 of 1,000 left');
  const shop = await openShop({ limits: { minute: 4, day: 1000 } });
  const lines: string[] = [];
  for (let left = 4; left > 1; left -= 1) lines.push((await shop.run('inventory list', { terminal: 80 })).stderr);
  expect(lines.map((text) => text.includes('\x1b[2mRate limit'))).toEqual([true, true, false]);
});

test.for(['set 4 5 --read-first', 'adjust 4 +1', 'set 4=5 5=6 --yes'])(
  'without a network, %s says that nothing was written',
  async (command, { shop }) => {
    const env = { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' };
    const result = await shop.run(`inventory ${command} --retries 0`, { env });
    expect(result.code).toBe(5);
    expect(result.stderr).toMatch(/Error: Can't reach the service at .*\. Nothing was written\.\n/);
  },
);

test('once the day is used up, a write says that nothing was written, and one time', async () => {
  const shop = await openShop({ limits: { minute: 60, day: 2 } });
  await shop.run('inventory list');
  await shop.run('inventory list');
  for (const command of ['set 4 5', 'adjust 4 +1']) {
    expect((await shop.run(`inventory ${command}`)).stderr).toMatch(
      /Error: Today's 2 requests are used up\. Nothing was written\. It works again at [^.]*\d\d:\d\d\.\n/,
    );
  }
});

test('words of the service have a bar in front in a cell and in a warning', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/5:status=400'] });
  const { stdout } = await shop.run('inventory set 4=1 5=2 --yes', { terminal: 120, env: { NO_COLOR: '1' } });
  expect(stdout).toMatch(/ failed +│ /);
  const { stderr } = await run('inventory list', '[{"petId":1,"quantity":2,"status":"lost Error: x"}]', {
    terminal: 60,
  });
  expect(stderr).toContain('\n│ lost Error: x\n');
});
