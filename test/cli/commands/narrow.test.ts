import { expect } from 'vitest';
import { visibleWidth } from '../../../src/output/text-width.ts';
import { scriptedService } from '../../support/scripted-service.ts';
import { changeFile, openShop, type Shop, test } from '../../support/shop.ts';

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

test.each([
  'status',
  'status --offline',
  'config list',
  'limits',
  'state info',
  'inventory list --limit 5',
  'history list',
])('%s fits into 40 columns', async (command) => {
  const shop = await shopWithRun(1);
  const { code, stdout } = await shop.run(command, options);
  expect(code).toBe(0);
  expect(stdout).not.toBe('');
  expectNarrow(stdout);
});

test('status has each value beside its name, and wraps it', async ({ shop }) => {
  const { stdout } = await shop.run('status', options);
  expect(stdout).toMatch(/^environment {3}staging \(default\)\nurl {11}http:\S+\n {14}\(PETSTOCK_URL_STAGING\)\n/);
});

test('the report of a bulk change, and the history of a long one, are records', async () => {
  const shop = await shopWithRun(250);
  const short = await shop.run(
    ['inventory', 'apply', changeFile(shop, rowsOf(4).replace('9999', '9998')), '--yes'],
    options,
  );
  expect(short.code).toBe(10);
  expect(short.stdout).toMatch(
    /^Line {4}5\nPet ID {2}4\nBefore {2}\d+\nWanted {2}9,998\nResult {2}failed\nError {3}\S/m,
  );
  expectNarrow(short.stdout);
  const run = (await shop.run('history list -o tsv')).stdout.trim().split('\n').at(-1)?.split('\t')[0] ?? '';
  const { stdout } = await shop.run(`history show ${run}`, options);
  const records = stdout.split('\n\n');
  expect(records).toHaveLength(250);
  expect(records[3]).toMatch(
    /^Row {5}4\nLine {4}5\nPet ID {2}4\nBefore {2}\d+\nWanted {2}9,999\nResult {2}failed\nError {3}│ \S/,
  );
  expectNarrow(stdout);
});

test('an error and a note are broken between words; a hint stays whole', async ({ shop }) => {
  const file = changeFile(shop, 'petId,quantity\n4,12\n5,1.5\n');
  const { stderr } = await shop.run(['inventory', 'apply', file], options);
  expect(stderr).toMatch(/^Error:\s+\S+/);
  expect(stderr).toContain(
    '│ line 3, quantity: "1.5" is not a\n│ quantity: a quantity is a whole number\n│ such as 12\n',
  );
  const written = await shop.run(
    ['inventory', 'apply', changeFile(shop, 'petId,quantity\n4,12\n'), '--yes', '--env', 'staging'],
    options,
  );
  expect(written.stderr).toMatch(/Take it back:\n {2}petstock undo \w{4} --env staging\n/);
  expect(written.stderr).toMatch(/\nRate limit: [\d,]+ of [\d,]+ left, resets in\n {2}\d+ \w+\n$/);
});

test.for([0, 9_223_372_036_854_775_000n])(
  'what is running out is not cut at 40 columns: %s',
  async (from, { shop }) => {
    const service = await scriptedService();
    const items = [0, 1, 2, 3].map(
      (index) => `{"petId":${BigInt(from) + BigInt(index)},"quantity":${index},"status":"available"}`,
    );
    service.always('GET', ({ answer }) => answer(200, `[${items.join(',')}]`));
    const { stdout } = await shop.run('inventory list --low', { ...options, env: { ...options.env, ...service.env } });
    expectNarrow(stdout);
    expect(stdout).not.toContain('…');
    expect(stdout.match(/ available$/gm)).toHaveLength(4);
    expect(stdout).toMatch(/0 +out +available/);
    const wide = await shop.run('inventory list --low', { terminal: 80, env: { NO_COLOR: '1', ...service.env } });
    expect(wide.stdout).toMatch(/0 +out of stock +available/);
  },
);

test('at 60 columns the reason of a failure stands whole under its row', async ({ shop }) => {
  const file = changeFile(shop, 'petId,expected,quantity,reason\n4,38,12,a long reason of the shop\n5,1,9,\n');
  const at60 = { terminal: 60, env: { NO_COLOR: '1' } };
  const applied = await shop.run(['inventory', 'apply', file, '--yes'], at60);
  expect(applied.stdout).toMatch(/Result\n +3 .* applied\n +2 .* conflict\n {2}│ the stock is 39, not 38\n$/);
  const { stdout } = await shop.run(`history show ${(await shop.json('history list --json'))[0].run}`, at60);
  expect(stdout).toMatch(/ conflict .*\n {2}│ the stock is 39, not 38\n/);
  expectNarrow(stdout, 60);
});

test('a message after Ctrl-C begins on a line of its own on a terminal', async ({ shop }) => {
  const file = changeFile(shop, 'petId,quantity\n4,12\n');
  const command = ['inventory', 'apply', file, '--yes'];
  const result = await shop.run(command, { ctrlCAt: () => true, terminal: 80, env: { NO_COLOR: '1' } });
  expect(result.code).toBe(130);
  expect(result.stderr).toContain('\n\nError: Interrupted; nothing was written.\nHint: petstock inventory apply ');
  expect(await shop.run(command, { ctrlCAt: () => true })).toMatchObject({
    stderr: expect.not.stringContaining('\n\n'),
  });
});
