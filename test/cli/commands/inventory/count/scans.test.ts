import { expect } from 'vitest';
import { changeFile, errorJson, openShop, stockOf, test } from '../../../../support/shop.ts';
import { count, sessionIn, statesIn } from './count-rig.ts';

test('sets the stock to the scanned units in a run that can be undone', async ({ shop }) => {
  const before = await stockOf(shop);
  const result = await count(shop, '4\n4\n5 x3\n8*2\n-\n= 1 12\n\ndone\n');
  expect(result).toMatchObject({ code: 0, written: ['4 {"quantity":2}', '5 {"quantity":3}'] });
  expect(result.requests).toHaveLength(3);
  const counts = { applied: 2, unchanged: 1, failed: 0, conflict: 0 };
  expect(result.report).toMatchObject({ env: 'staging', dryRun: false, counts });
  const rows = result.report.rows.map(({ petId, after, result }) => `${petId} ${after} ${result}`);
  expect(rows).toEqual(['4 2 applied', '5 3 applied', '1 12 unchanged']);
  const [run] = await shop.json('history list --json');
  expect(run).toMatchObject({ command: 'inventory count', reason: 'stock-take', state: 'done' });
  expect((await shop.run('undo --last --yes')).code).toBe(0);
  expect(await stockOf(shop)).toEqual(before);
});

test('refuses scans after "done", and keeps the earlier scans', async ({ shop }) => {
  const result = await count(shop, '4\ndone\n7\ndone\n');
  expect(result).toMatchObject({ code: 2, stdout: '', written: [] });
  const session = await sessionIn(shop);
  expect(errorJson(result.stderr).error).toMatchObject({
    message: '"7" follows "done", which ends a count. Nothing was written.',
    hint: `petstock inventory count ${session} --json --yes --env staging`,
  });
  const later = await count(shop, '7\ndone\n\nDONE\n', `${session} --yes --json`);
  expect(later.written).toEqual(['4 {"quantity":1}', '7 {"quantity":1}']);
});

test('counts pets with ids up to the largest int64', async ({ shop }) => {
  const { written } = await count(shop, '9007199254740993 x2\n9223372036854775807\n');
  expect(written).toEqual(['9007199254740993 {"quantity":2}', '9223372036854775807 {"quantity":1}']);
});

test('refuses a piped count without --yes or --to, and begins no session', async ({ shop }) => {
  const stderr = await shop.refused('inventory count', { stdin: '4\n' });
  expect(stderr).toMatch(/This needs confirmation.*\nHint: petstock inventory count --dry-run/);
  expect(await statesIn(shop)).toEqual([]);
});

test('lists unknown codes without counting them, and exits with 8', async ({ shop }) => {
  const result = await count(shop, '4\n004\n004\n777777\nfoo x2\nfoo x0\n');
  expect(result).toMatchObject({ code: 8, written: ['4 {"quantity":1}'] });
  expect(result.stderr).toMatch(/^Not counted, because no pet is known for them:\n( {2}.+\n){4}/m);
  for (const line of ['  004     2\n', '  777777  1\n', '  foo     2\n', '  foo x0  1\n'])
    expect(result.stderr).toContain(line);
  expect(result.stderr.trimEnd().split('\n').at(-1)).toMatch(/Not counted: 6 units of 4 unknown codes/);
});

test('leaves no session after a piped dry run, but keeps a session with unknown codes', async ({ shop }) => {
  expect(await count(shop, '4\n', '--dry-run --exit-code')).toMatchObject({ code: 3, written: [] });
  expect(await count(shop, 'foo\n')).toMatchObject({ code: 9 });
  const codes = changeFile(shop, 'code,petId\nfoo,4\n', 'codes.csv');
  const later = await count(shop, '', `${await sessionIn(shop)} --yes --json --codes ${codes}`);
  expect(later).toMatchObject({ code: 0, written: ['4 {"quantity":1}'] });
});

test('refuses an empty count even with --yes and --all, and leaves no session', async () => {
  const shop = await openShop({ pets: 5 });
  const before = await stockOf(shop);
  for (const lines of ['', '\n-\n', 'done\n', '4\n-\n', '= foo 0\n']) {
    for (const args of ['--yes', '--yes --new --all', '--new --all --to -', '--new --all --dry-run']) {
      expect(await count(shop, lines, args), `${args}: ${lines}`).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('Nothing was counted'),
        written: [],
      });
    }
  }
  expect(await stockOf(shop)).toEqual(before);
  expect((await count(shop, '1\n')).code).toBe(0);
});

test('reports a piped unknown code once on a terminal, and shows the units counted so far', async ({ shop }) => {
  const options = { terminal: 80, terminals: ['stdout', 'stderr'], env: { NO_COLOR: '1' } } as const;
  const { stderr } = await count(shop, '4\nfoo\n4\nfoo\n\n4\n', '--yes', options);
  expect(stderr.match(/foo: 1 kept apart, not a known code/g)).toHaveLength(1);
  expect(stderr).toContain('\x07');
  expect(stderr).toMatch(/\r\x1b\[K\d units?, 1 pet/);
  expect(stderr).toContain('  foo  2\n');
  const silent = await count(shop, '5\nbar\n', '--new --yes -q');
  expect(silent.stderr).toMatch(
    /^bar: 1 kept apart, not a known code\nError: Not counted: 1 unit of 1 unknown code\. Session \w{4} keeps 1 unit of unknown codes\.\n│ bar {2}1\n/,
  );
});

test('reports unknown codes however the input ends', async ({ shop }) => {
  for (const flag of ['', ' -q', ' --json']) {
    const [first, ...others] = await Promise.all(
      ['foo', 'foo\n', 'foo\ndone\n', 'foo\ndone', 'foo\n\ndone\n\n'].map(async (tail) => {
        const { stderr, code } = await count(shop, `1 x12\n${tail}`, `--new --dry-run${flag}`);
        expect(stderr).toContain('foo: 1 kept apart, not a known code\n');
        expect(stderr).toContain('foo  1');
        return { stderr: stderr.replace(/\d+ of 1000 left, resets in .*/, ''), code };
      }),
    );
    for (const other of others) expect(other).toEqual(first);
  }
});
