import { expect } from 'vitest';
import { apply, changeFile, openShop, type ShopOptions, type ShopRunOptions, test } from '../../../support/shop.ts';

const rowsOf = (count: number, bad: readonly number[] = []) => {
  const rows = Array.from({ length: count }, (_, index) => `${index + 1},${bad.includes(index) ? 9999 : 500 + index}`);
  return `petId,quantity\n${rows.join('\n')}\n`;
};

/** Applies these rows at a terminal, in a shop of 200 pets. */
async function applied(rows: string, options: ShopOptions = {}, flags = '') {
  const shop = await openShop({ pets: 200, ...options });
  const command = `inventory apply ${changeFile(shop, rows)} --yes${flags}`;
  const result = await shop.run(command, { terminal: 100, env: { NO_COLOR: '1' } });
  return { ...result, lines: result.stdout.trimEnd().split('\n') };
}

test('prints only the failed rows of a large apply on a terminal, and a command for the rest', async () => {
  const { code, lines, stderr } = await applied(rowsOf(30, [3, 20]), { quantityBounds: { max: 1000n } });
  expect(code).toBe(8);
  expect(lines).toEqual([
    expect.stringMatching(/^Line +Pet ID +Before +Wanted +Result +Error$/),
    expect.stringMatching(/^ +5 .* failed +\S/),
    expect.stringMatching(/^ +22 .* failed +\S/),
  ]);
  expect(stderr).toMatch(/To see 28 more rows: petstock history show [a-z0-9]{4}\n/);
});

test('prints only the counts of a large apply on a terminal if it wrote all rows', async () => {
  const { code, stdout, stderr } = await applied(rowsOf(30));
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toContain('30 applied.\n');
  expect(stderr).toMatch(/To see 30 rows: petstock history show [a-z0-9]{4}\n/);
  expect(stderr).not.toContain('Nothing to show');
});

test('omits rows that were not attempted from a report on a terminal, and prints how to show them', async () => {
  const options = { faults: ['PATCH /inventory/6:status=401'] };
  const { code, stdout, stderr } = await applied(rowsOf(40), options, ' --concurrency 1');
  expect({ code, stdout }).toEqual({ code: 8, stdout: expect.not.stringContaining('not attempted') });
  expect(stderr).toContain('5 applied, 35 not attempted.\n');
  expect(stderr).toMatch(/\nTo see 35 rows: petstock history show \w{4} --state pending\n/);
});

test('shows many failures on one screen at most, and prints all rows of a small run with failures last', async () => {
  const many = await applied(rowsOf(30), { quantityBounds: { max: 1n } });
  expect(many.lines.length).toBeLessThanOrEqual(17);
  expect(many.stderr).toMatch(/To see \d+ more rows: petstock history show [a-z0-9]{4} --state failed\n/);
  const few = await applied(rowsOf(3, [0]), { quantityBounds: { max: 1000n } });
  expect(few.lines.map((line) => line.trim().split(/ +/)[0])).toEqual(['Line', '3', '4', '2']);
});

test('prints all rows of apply if stdout is not a terminal', async () => {
  const shop = await openShop({ pets: 200 });
  const terminal = { terminal: 100, terminals: ['stderr'] as const };
  const { stdout } = await shop.run(`inventory apply ${changeFile(shop, rowsOf(30))} --yes`, terminal);
  expect(stdout.trimEnd().split('\n')).toHaveLength(30);
});

test('reports "Nothing to write", and not "Nothing to show", if apply changes nothing', async ({ shop }) => {
  const file = changeFile(shop, 'petId,quantity\n4,39\n');
  const { stderr } = await shop.run(`inventory apply ${file} --yes`, { terminal: 100 });
  expect(stderr).toContain('Nothing to write.\n');
  expect(stderr).not.toContain('Nothing to show');
});

test('reports in a dry run that the rate limit causes no wait, and the time that slow requests take', async () => {
  const shop = await openShop({ pets: 200 });
  const preview = await apply(shop, rowsOf(3), ['--dry-run']);
  expect(preview.stderr).toContain('3 changes, 4 requests: no wait for the rate limit.\n');
  // Each request takes 2 s.
  const far = await openShop({ pets: 200 });
  const around: ShopRunOptions['around'] = async (send) => {
    const response = await send();
    far.clock.advance(2000);
    return response;
  };
  const slow = await apply(far, rowsOf(40), ['--dry-run'], { around });
  expect(slow.stderr).toMatch(/40 changes, 41 requests: no wait for the rate limit, about 6 s\.\n/);
});

test('prints the first 20 of many faults on a terminal, and up to 1000 elsewhere', async ({ shop }) => {
  const lines = (count: number) =>
    `petId,quantity\n${Array.from({ length: count }, (_, row) => `${row},x\n`).join('')}`;
  const command = `inventory apply ${changeFile(shop, lines(400))}`;
  const shown = await shop.run(command, { terminal: 200, env: { NO_COLOR: '1' } });
  expect(shown).toMatchObject({ code: 2, requests: [] });
  expect(shown.stderr).toMatch(
    /^Error: \S+ has 400 errors. Nothing was sent\.\n(?:│ line .*\n){20}│ … and 380 more lines\. .*\n$/,
  );
  expect(shown.stderr).toContain('To see all of them, run the command again with 2> errors.txt\n');
  expect((await shop.run(command)).stderr.match(/^│ line /gm)).toHaveLength(400);
  const { error } = JSON.parse((await shop.run(`${command} --json`, { terminal: 80 })).stderr);
  expect(error.faults).toHaveLength(400);
  const few = await shop.run(`inventory apply ${changeFile(shop, lines(21))}`, { terminal: 200 });
  expect(few.stderr.match(/^│ line /gm)).toHaveLength(21);
  const many = changeFile(shop, `petId,quantity\n${'1,x\n'.repeat(1400)}`);
  expect(await shop.refused(`inventory apply ${many}`)).toMatch(
    / has 2,799 errors \(the first 1,000 are listed\). Nothing was sent\.\n(?:│ line .*\n){1000}$/,
  );
});
