import { expect, vi } from 'vitest';
import { wipeLine } from '../../../src/output/terminal.ts';
import { changeFile, confirming, openShop, openShopAnswering, test } from '../../support/shop.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Text that sets the window's title, fills the clipboard, moves the cursor up and reverses text. */
const hostile = 'a\x1b]0;title\x07b\x1b]52;c;ZXZpbA==\x07c\x1b[1Ad\x9b2Je\u202ef\u2066g\u061ch\rI\bJ\x7fK';
/** Text whose only control characters are tabs, line feeds and styles. */
const allowed =
  /^(?:[^\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\x1b\[(?:1|2|22|31|32|33|36|39)m)*$/;

function expectHarmless({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): void {
  for (const text of [stdout, stderr]) expect(text.replaceAll(wipeLine, '')).toMatch(allowed);
}

const list = JSON.stringify([{ petId: 1, quantity: 2, status: hostile }]);

test.each(['inventory export', 'inventory list', 'api GET /inventory', 'inventory set 1 5'])(
  '%s prints nothing harmful to a terminal',
  async (command) => {
    for (const body of [list, `[{"${hostile}":1}]`]) {
      const shop = await openShopAnswering(200, body);
      for (const debug of ['', ' --debug']) expectHarmless(await shop.run(`${command}${debug}`, { terminal: 80 }));
    }
  },
);

test('prints nothing harmful in the stack trace of a parse error with --debug', async () => {
  const twice = String.raw`{"a":1,"\u001b]52;c;ZXZpbA==\u0007":1,"\u001b]52;c;ZXZpbA==\u0007":2}`;
  const shop = await openShopAnswering(200, twice);
  for (const terminals of [undefined, ['stderr'] as const]) {
    expectHarmless(await shop.exits('orders list --debug', 1, 'SyntaxError', { terminal: 80, terminals }));
  }
});

test('prints control characters to a pipe unchanged', async () => {
  const shop = await openShopAnswering(200, list);
  const pipe = { terminal: 80, terminals: ['stderr'] } as const;
  expect((await shop.run('api GET /inventory', pipe)).stdout).toBe(list);
  const csv = await shop.run('inventory list -o csv --no-header --fields status', pipe);
  expect(csv.stdout).toBe(`"${hostile}"\n`);
});

test('removes control characters from questions about a file or a path', async ({ shop }) => {
  const file = changeFile(shop, 'mine', 'a\x1b[2J\nb\u202e.csv');
  const { asked, prompts } = confirming(false);
  await shop.exits(['inventory', 'export', file], 2, [], { terminal: 80, prompts });
  await shop.run('config set confirm always');
  const path = '/inventory/1?\x1b]0;x\x07\u202e';
  await shop.run(['api', 'PATCH', path, '--data', '{}'], { terminal: 80, prompts });
  expect(asked).toHaveLength(2);
  for (const question of asked) expect(question).toMatch(/^[ -~…]+$/);
});

// test/output/terminal.test.ts tests the rules; this tests that the flag, the variables and each stream count.
test.for([
  ['neither stdout nor stderr without a terminal', undefined, ['stdout', 'stderr'], '', {}, [false, false]],
  ['stdout and stderr with FORCE_COLOR', undefined, ['stdout', 'stderr'], '', { FORCE_COLOR: '1' }, [true, true]],
  ['stdout and stderr with --color always', undefined, ['stdout', 'stderr'], ' --color always', {}, [true, true]],
  ['stdout and stderr on a terminal', 80, ['stdout', 'stderr'], '', {}, [true, true]],
  ['neither stdout nor stderr with NO_COLOR', 80, ['stdout', 'stderr'], '', { NO_COLOR: '1' }, [false, false]],
  ['only stderr if stdout is not a terminal', 80, ['stderr'], '', {}, [false, true]],
] as const)('colours %s', async (row, { shop }) => {
  const [, terminal, terminals, flags, env, areColoured] = row;
  const list = await shop.run(`inventory list -o table${flags}`, { env, terminal, terminals });
  const failed = await shop.run(`inventory get 4242${flags}`, { env, terminal, terminals });
  expect([list.stdout, failed.stderr].map((text) => text.includes('\x1b['))).toEqual(areColoured);
  if (areColoured[1]) expect(failed.stderr).toContain('\x1b[31m');
});

test('names the environment of watch and diff on a terminal, and prints production in red', async ({ shop }) => {
  const production = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
  const env = { ...production, NO_COLOR: '1' };
  for (const [command, places] of [
    ['inventory watch --for 1', /^▸ staging\n(?!▸)/],
    ['inventory diff staging production', /^▸ staging\n▸ production\n/],
  ] as const) {
    expect((await shop.run(command, { terminal: 80, env })).stderr).toMatch(places);
    expect((await shop.run(command, { env })).stderr).not.toContain('▸');
  }
  const red = /^\x1b\[36m▸\x1b\[39m \x1b\[1m\x1b\[31mproduction\x1b\[39m\x1b\[22m\n/;
  for (const command of ['list', 'list --summary', 'get 4']) {
    const inRed = `inventory ${command} --env production --color always`;
    await shop.exits(inRed, 0, red, { env: production, terminal: 80 });
  }
});

test('dims the rate limit on a terminal until only a quarter is left', async ({ shop }) => {
  await shop.exits('inventory list', 0, '\x1b[2mRate limit: 999 of 1,000 left', { terminal: 80 });
  const small = await openShop({ limits: { minute: 4, day: 1000 } });
  const lines: string[] = [];
  for (let left = 4; left > 1; left -= 1) lines.push((await small.run('inventory list', { terminal: 80 })).stderr);
  expect(lines.map((text) => text.includes('\x1b[2mRate limit'))).toEqual([true, true, false]);
});

test("marks the service's words with a bar in a table cell and in a warning", async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/5:status=400'] });
  const { stdout } = await shop.run(`inventory apply ${changeFile(shop, 'petId,quantity\n4,1\n5,2\n')} --yes`, {
    terminal: 120,
    env: { NO_COLOR: '1' },
  });
  expect(stdout).toMatch(/ failed +│ /);
  const other = await openShopAnswering(200, '[{"petId":1,"quantity":2,"status":"lost Error: x"}]');
  await other.exits('inventory list', 0, '\n│ lost Error: x\n', { terminal: 60 });
});
