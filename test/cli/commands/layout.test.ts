import { expect } from 'vitest';
import { visibleWidth } from '../../../src/output/text-width.ts';
import { changeFile, openShop, openShopAnswering, type Shop, test } from '../../support/shop.ts';

const options = { terminal: 40, env: { NO_COLOR: '1' } };

function expectNarrow(text: string, width = 40): void {
  for (const line of text.split('\n')) expect(visibleWidth(line), line).toBeLessThanOrEqual(width);
}

const rowsOf = (count: number) =>
  `petId,quantity\n${Array.from({ length: count }, (_, index) => `${index + 1},${index % 7 === 3 ? 9999 : 500 + index}`).join('\n')}\n`;

async function shopWithRun(rows: number): Promise<Shop> {
  const shop = await openShop({ pets: 400, quantityBounds: { max: 1000n } });
  await shop.run(['inventory', 'apply', changeFile(shop, rowsOf(rows)), '--yes']);
  return shop;
}

test('fits status, settings, limits and lists into 40 columns', async () => {
  const shop = await shopWithRun(1);
  const lists = ['inventory list --limit 5', 'history list', 'state info', 'config list', 'limits'];
  for (const command of [...lists, 'status', 'status --offline']) {
    const { stdout } = await shop.exits(command, 0, [], options);
    expect(stdout, command).not.toBe('');
    expectNarrow(stdout);
  }
});

test('prints reports and long runs as records on a terminal of 40 columns', async () => {
  const shop = await shopWithRun(201);
  const file = changeFile(shop, rowsOf(4).replace('9999', '9998'));
  const short = await shop.exits(['inventory', 'apply', file, '--yes'], 10, [], options);
  expect(short.stdout).toMatch(
    /^Line {4}5\nPet ID {2}4\nBefore {2}\d+\nWanted {2}9,998\nResult {2}failed\nError {3}\S/m,
  );
  expectNarrow(short.stdout);
  const { stdout } = await shop.run(`history show ${(await shop.json('history list --json')).at(-1).run}`, options);
  const records = stdout.split('\n\n');
  expect(records).toHaveLength(201);
  expect(records[3]).toMatch(
    /^Line {4}5\nPet ID {2}4\nBefore {2}\d+\nWanted {2}9,999\nResult {2}failed\nError {3}│ \S/,
  );
  expectNarrow(stdout);
});

test('wraps errors and notes between words, and keeps hints on one line', async ({ shop }) => {
  const file = changeFile(shop, 'petId,quantity\n4,12\n5,1.5\n');
  const { stderr } = await shop.run(['inventory', 'apply', file], options);
  expect(stderr).toMatch(/^Error:\s+\S+/);
  expect(stderr).toContain(
    '│ line 3, quantity: "1.5" is not a\n│ quantity: a quantity is a whole number\n│ such as 12\n',
  );
  const command = ['inventory', 'apply', changeFile(shop, 'petId,quantity\n4,12\n'), '--yes', '--env', 'staging'];
  const hint = /Undo: petstock undo \w{4} --env staging\n/;
  const limit = /\nRate limit: [\d,]+ of [\d,]+ left, resets in\n {2}\d+ \w+\n$/;
  await shop.exits(command, 0, [hint, limit], options);
});

test.each([0n, 9_223_372_036_854_775_000n])(
  'does not truncate a list of low stock at 40 columns (ids from %s)',
  async (from) => {
    const items = [0n, 1n, 2n, 3n].map((each) => `{"petId":${from + each},"quantity":${each},"status":"available"}`);
    const shop = await openShopAnswering(200, `[${items.join(',')}]`);
    const { stdout } = await shop.run('inventory list --low', options);
    expectNarrow(stdout);
    expect(stdout).not.toContain('…');
    expect(stdout.match(/ available$/gm)).toHaveLength(4);
    expect(stdout).toMatch(/0 +out +available/);
    const wide = await shop.run('inventory list --low', { ...options, terminal: 80 });
    expect(wide.stdout).toMatch(/0 +out of stock +available/);
  },
);

test('begins the error after Ctrl-C on a new line on a terminal', async ({ shop }) => {
  const file = changeFile(shop, 'petId,quantity\n4,12\n');
  const command = ['inventory', 'apply', file, '--yes'];
  const said = '\n\nError: Interrupted. Nothing was written.\nHint: petstock inventory apply ';
  await shop.exits(command, 130, said, { ...options, ctrlCAt: () => true, terminal: 80 });
  const { stderr } = await shop.run(command, { ctrlCAt: () => true });
  expect(stderr).not.toContain('\n\n');
});

/** Prints this response with a command. If the layout takes quadratic time, the test exceeds its timeout. */
async function laidOut(command: string, body: unknown, terminal?: number) {
  const shop = await openShopAnswering(200, JSON.stringify(body));
  return (await shop.exits(command, 0, [], { terminal })).stdout;
}

const cjk = '漢'.repeat(20_000);
const marks = `e${'\u0301'.repeat(20_000)}`;

test.each([
  ['Chinese characters', cjk],
  ['combining marks', marks],
])('lays out and truncates a very long text of %s', async (_what, text) => {
  const shown = await laidOut('inventory list', [{ petId: 1, quantity: 2, status: text }], 60);
  expect(shown.length).toBeLessThan(text === marks ? 50_000 : 1000);
  expect(shown).toContain('…');
  for (const body of [{ id: 1, [text]: text }, [{ id: 1, [text]: text }, { id: 2 }]]) {
    await laidOut('orders list', body, 60);
    await laidOut('orders list -o table', body);
  }
});

test('prints objects without a common field as JSON, not as a table', async () => {
  const orders = Array.from({ length: 2_000 }, (_, index) => ({ [`field${index}`]: index }));
  const shown = await laidOut('orders list', orders, 60);
  expect(JSON.parse(shown.replace(/^│ /gm, '').replaceAll('\n', ''))).toEqual(orders);
});

test('stops printing a long table on the first Ctrl-C', async () => {
  const orders = Array.from({ length: 10_000 }, (_, id) => ({ id, text: '漢'.repeat(40) }));
  const shop = await openShopAnswering(200, JSON.stringify(orders));
  const interrupt = new AbortController();
  // The interrupt arrives in a later tick of the event loop, like a signal.
  const onStdout = () => void setImmediate(() => interrupt.abort(new Error('Interrupted')));
  const { stdout } = await shop.run('orders list', { terminal: 80, interrupted: interrupt.signal, onStdout });
  expect(stdout.split('\n').length).toBeLessThan(5000);
});

test('leaves a missing field empty even if it has the name of a built-in property', async () => {
  const orders: object[] = [{ id: 1, constructor: 'a' }, { id: 2 }, { id: 3, toString: 4 }];
  expect(await laidOut('orders list -o csv', orders)).toBe('id,constructor,toString\n1,a,\n2,,\n3,,4\n');
  expect(await laidOut('orders list -o table', orders)).not.toContain('function');
  expect(await laidOut('orders list', [...orders, { name: cjk }], 80)).not.toContain('function');
});
