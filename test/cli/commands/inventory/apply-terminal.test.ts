import { expect } from 'vitest';
import { apply, changeFile, openShop, type Shop, test } from '../../../support/shop.ts';

const rowsOf = (count: number, bad: readonly number[] = []) =>
  `petId,quantity\n${Array.from({ length: count }, (_, index) => `${index + 1},${bad.includes(index) ? 9999 : 500 + index}`).join('\n')}\n`;

test('a large apply on a terminal shows what failed alone, and where the rest is', async () => {
  const shop = await openShop({ pets: 200, quantityBounds: { max: 1000n } });
  const file = changeFile(shop, rowsOf(30, [3, 20]));
  const result = await shop.run(['inventory', 'apply', file, '--yes'], { terminal: 100, env: { NO_COLOR: '1' } });
  expect(result.code).toBe(8);
  const lines = result.stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/^Line +Pet ID +Before +Wanted +Result +Error$/);
  expect(lines[1]).toMatch(/^ +5 .* failed +\S/);
  expect(lines[2]).toMatch(/^ +22 .* failed +\S/);
  expect(result.stderr).toMatch(/28 more rows: petstock history show [a-z0-9]{4}\n/);
});

test('where all is written, a large apply shows the counts alone', async () => {
  const shop = await openShop({ pets: 200 });
  const file = changeFile(shop, rowsOf(30));
  const result = await shop.run(['inventory', 'apply', file, '--yes'], { terminal: 100 });
  expect(result).toMatchObject({ code: 0, stdout: '' });
  expect(result.stderr).toContain('30 applied.\n');
  expect(result.stderr).toMatch(/30 rows: petstock history show [a-z0-9]{4}\n/);
  expect(result.stderr).not.toContain('Nothing to show');
});

test('rows that were only waiting when the run ended take no screen', async () => {
  const shop = await openShop({ pets: 200, faults: ['PATCH /inventory/6:status=401'] });
  const args = ['inventory', 'apply', changeFile(shop, rowsOf(40)), '--yes', '--concurrency', '1'];
  const { code, stdout, stderr } = await shop.run(args, { terminal: 100, env: { NO_COLOR: '1' } });
  expect(code).toBe(8);
  expect(stdout).not.toContain('not attempted');
  expect(stderr).toContain('5 applied, 35 not attempted.\n');
  expect(stderr).toMatch(/\n35 rows: petstock history show \w{4} --state pending\n/);
});

test('of many failures, a screen is shown', async () => {
  const shop = await openShop({ pets: 200, quantityBounds: { max: 1n } });
  const file = changeFile(shop, rowsOf(30));
  const result = await shop.run(['inventory', 'apply', file, '--yes'], { terminal: 100 });
  expect(result.stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(17);
  expect(result.stderr).toMatch(/\d+ more rows: petstock history show [a-z0-9]{4} --state failed\n/);
});

test('a short one shows all rows, those that failed last; elsewhere than on a terminal all rows are printed', async () => {
  const shop = await openShop({ pets: 200, quantityBounds: { max: 1000n } });
  const file = changeFile(shop, rowsOf(3, [0]));
  const short = await shop.run(['inventory', 'apply', file, '--yes'], { terminal: 100, env: { NO_COLOR: '1' } });
  expect(
    short.stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/ +/)[0]),
  ).toEqual(['Line', '3', '4', '2']);
  const long = changeFile(shop, rowsOf(30, [3]), 'long.csv');
  const { stdout } = await shop.run(['inventory', 'apply', long, '--yes'], { terminal: 100, terminals: ['stderr'] });
  expect(stdout.trimEnd().split('\n')).toHaveLength(30);
});

test('nothing to write is said once', async ({ shop }) => {
  const file = changeFile(shop, 'petId,quantity\n4,39\n');
  const { stderr } = await shop.run(['inventory', 'apply', file, '--yes'], { terminal: 100 });
  expect(stderr).toContain('Nothing to write.\n');
  expect(stderr).not.toContain('Nothing to show');
});

test('the preview says that no limit is waited for, and, with a measured round trip, how long it takes', async () => {
  const shop = await openShop({ pets: 200 });
  const preview = await apply(shop, rowsOf(3), ['--dry-run']);
  expect(preview.stderr).toContain('3 changes, 4 requests: no wait for the rate limit.\n');
  // Each request is logged by the service before its answer is read.
  const far: Shop = await openShop({ pets: 200, log: () => far.clock.advance(2000) });
  const slow = await apply(far, rowsOf(40), ['--dry-run']);
  expect(slow.stderr).toMatch(/40 changes, 41 requests: no wait for the rate limit, about 6 s\.\n/);
});

test('of many faults a terminal shows the first 20; a file and JSON have them all', async ({ shop }) => {
  const lines = (count: number) =>
    `petId,quantity\n${Array.from({ length: count }, (_, row) => `${row},x\n`).join('')}`;
  const file = changeFile(shop, lines(400));
  const command = ['inventory', 'apply', file];
  const shown = await shop.run(command, { terminal: 200, env: { NO_COLOR: '1' } });
  expect(shown).toMatchObject({ code: 2, requests: [] });
  expect(shown.stderr).toMatch(
    /^Error: \S+ has 400 faults; nothing was sent\.\n(?:│ line .*\n){20}│ … and 380 more lines\. .*\n$/,
  );
  expect(shown.stderr).toContain('To see all of them, run it again with 2> faults.txt\n');
  expect((await shop.run(command)).stderr.match(/^│ line /gm)).toHaveLength(400);
  const { error } = JSON.parse((await shop.run([...command, '--json'], { terminal: 80 })).stderr);
  expect(error.faults).toHaveLength(400);
  const few = changeFile(shop, lines(21), 'few.csv');
  expect((await shop.run(['inventory', 'apply', few], { terminal: 200 })).stderr.match(/^│ line /gm)).toHaveLength(21);
});

test('of more faults than are kept it is said how many are named', async ({ shop }) => {
  const file = changeFile(shop, `petId,quantity\n${'1,x\n'.repeat(1400)}`);
  const { stderr } = await shop.run(['inventory', 'apply', file]);
  expect(stderr).toMatch(
    / has 2,799 faults, of which the first 1,000 are named; nothing was sent\.\n(?:│ line .*\n){1000}$/,
  );
});
