import { describe, expect } from 'vitest';
import { apply, changeFile, errorJson, jsonLines, test } from '../../support/shop.ts';

describe('JSON', () => {
  test('counts only the rows to write as planned in a dry run', async ({ shop }) => {
    const { report, code } = await apply(shop, 'petId,quantity,expected\n4,50,\n5,9,77\n6,14,\n', ['--dry-run']);
    expect([code, report.run, report.dryRun]).toEqual([8, null, true]);
    expect(report.counts).toMatchObject({ planned: 1, conflict: 1, unchanged: 1, applied: 0 });
    const written = await apply(shop, 'petId,quantity\n4,50\n');
    expect(written.report.counts).toMatchObject({ planned: 0, applied: 1 });
    const [listed] = await shop.json('history list --json');
    expect(Object.keys(listed.counts)).toEqual([...Object.keys(written.report.counts), 'pending']);
  });

  test('prints the run in each line of NDJSON', async ({ shop }) => {
    const { report } = await apply(shop, 'petId,quantity\n4,50\n5,9\n');
    const shown = jsonLines((await shop.exits('history show latest -o ndjson', 0)).stdout);
    expect(shown.map(({ run, petId }) => [run, petId])).toEqual([4, 5].map((petId) => [report.run, petId]));
    const file = changeFile(shop, 'petId,quantity\n4,51\n5,10\n');
    const applied = jsonLines((await shop.exits(['inventory', 'apply', file, '--yes', '-o', 'ndjson'], 0)).stdout);
    const latest = await shop.json('history show latest --json');
    expect(applied.map(({ run }) => run)).toEqual([latest.run, latest.run]);
    expect(latest.rows[0].run).toBeUndefined();
  });

  test('prints the faults of a file in the JSON error on stderr', async ({ shop }) => {
    const file = changeFile(shop, 'petId,quantity\n4,x\n,5\n');
    const { stdout, stderr } = await shop.exits(['inventory', 'apply', file, '--yes', '--json'], 2);
    expect([stdout, errorJson(stderr).error]).toEqual([
      '',
      expect.objectContaining({
        code: 'usage',
        kind: 'usage',
        exitCode: 2,
        faults: [
          { line: 2, column: 'quantity', message: expect.any(String) },
          { line: 3, column: 'petId', message: expect.any(String) },
        ],
      }),
    ]);
    for (const absent of ['status', 'retryAfterSeconds', 'run'])
      expect(errorJson(stderr).error).not.toHaveProperty(absent);
  });
});

test('sorts stores by name in config list', async ({ shop }) => {
  for (const store of ['south', 'north', 'east']) await shop.exits(`config set low-stock 3 --store ${store}`, 0);
  const listed: readonly { readonly name: string }[] = await shop.json('config list --json');
  const stores = listed.flatMap(({ name }) => (name.endsWith('/low-stock') ? [name] : []));
  expect(stores).toEqual(['east/low-stock', 'north/low-stock', 'south/low-stock']);
});

test('accepts the --failed-out file of the previous run if all rows are conflicts again', async ({ shop }) => {
  const file = changeFile(shop, 'petId,quantity,expected\n4,50,1\n5,9,77\n');
  const failed = changeFile(shop, '', 'failed.csv');
  const night = ['inventory', 'apply', file, '--yes', '--json', '--failed-out', failed];
  for (const _night of [1, 2]) {
    const { stdout } = await shop.exits(night, 7);
    expect(JSON.parse(stdout).counts).toMatchObject({ conflict: 2, applied: 0 });
  }
});
