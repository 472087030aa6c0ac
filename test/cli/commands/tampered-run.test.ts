import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { recordRun } from '../../support/recorded-runs.ts';
import { type Shop, test } from '../../support/shop.ts';
import { stateSql } from '../../support/state-sql.ts';

/** Everything beside and below the folders of a shop, but for what SQLite and the rate limit keep there. */
function filesOf({ folders }: Shop): string[] {
  const found = readdirSync(join(folders.state, '..'), { recursive: true, encoding: 'utf8' });
  return found.filter((name) => !/^state(?:\/state\.db.*)?$|^runtime/.test(name)).sort();
}

test.for(['../../x', '../../../../tmp/xabcd', '; touch xabcd', '$(touch x)abcd'])(
  'a run whose id was made %j reaches no file name and no command',
  async (id, { shop }) => {
    await recordRun(shop, [
      { petId: 4n, before: 39, after: 12, result: 'failed' },
      { petId: 5n, before: 1, after: 2, result: 'pending' },
      { petId: 6n, before: 1, after: 2, result: 'applied' },
    ]);
    await stateSql(shop.folders.state, `UPDATE runs SET run = '${id}'`);
    const before = filesOf(shop);
    for (const named of [id, 'abcd']) {
      for (const command of [
        ['history', 'show', named],
        ['undo', named, '--yes'],
        ['inventory', 'apply', '--resume', named, '--yes'],
        [
          'inventory',
          'apply',
          '--resume',
          named,
          '--yes',
          '--failed-out',
          join(shop.folders.state, '..', 'failed.csv'),
        ],
      ]) {
        const { code, stderr, requests } = await shop.run(command);
        expect([1, 2, 9]).toContain(code);
        expect(requests).toEqual([]);
        expect(stderr).toMatch(/\nHint: petstock history list\n$/);
      }
    }
    expect((await shop.run('undo --last --yes')).code).toBe(2);
    expect((await shop.run('history list --json')).code).toBe(0);
    expect((await shop.run('history export')).code).toBe(0);
    expect(filesOf(shop)).toEqual(before);
    expect((await shop.run('history prune --keep 0 --incomplete --yes')).code).toBe(0);
    expect(filesOf(shop)).toEqual(before);
  },
);
