import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { apply } from '../../support/changes.ts';
import { openShop, type Shop } from '../../support/shop.ts';

const list = async (shop: Shop, ...args: string[]) => {
  const { stdout } = await shop.run(['history', 'list', '--json', ...args]);
  return JSON.parse(stdout) as { run: string; command: string; env: string; counts: Record<string, number> }[];
};

describe('history list', () => {
  test('has every write, the latest first, with what became of it; and sends nothing', async () => {
    const shop = await openShop();
    await shop.run('inventory set 4 12');
    shop.clock.advance(1000);
    await apply(shop, 'petId,quantity,expected\n5,9,\n6,1,2\n');
    const result = await shop.run('history list -o json');
    expect(result.requests).toEqual([]);
    const [latest, first] = JSON.parse(result.stdout);
    expect(latest).toMatchObject({ command: 'inventory apply', env: 'staging', state: 'done', undoneBy: [] });
    expect(latest.counts).toMatchObject({ applied: 1, conflict: 1 });
    expect(first).toMatchObject({ command: 'inventory set', changes: 1 });
  });

  test('by pet, date and environment', async () => {
    const shop = await openShop();
    await shop.run('inventory set 4 12');
    shop.clock.advance(3 * 24 * 3600_000);
    await shop.run('inventory set 9007199254740993 1');
    expect(await list(shop)).toHaveLength(2);
    expect(await list(shop, '--pet', '4')).toHaveLength(1);
    expect(await list(shop, '--pet', '9007199254740992')).toHaveLength(0);
    expect(await list(shop, '--since', '1d')).toHaveLength(1);
    expect(await list(shop, '--until', '2026-01-15')).toHaveLength(1);
    expect(await list(shop, '--since', '2026-01-16', '--until', '2026-01-17')).toHaveLength(0);
    expect(await list(shop, '--env', 'staging')).toHaveLength(2);
    expect(await list(shop, '--env', 'production')).toHaveLength(0);
    for (const wrong of ['yesterday', '2026-02-30', '7 d', '']) {
      expect(await shop.run(['history', 'list', '--since', wrong])).toMatchObject({ code: 2, stdout: '' });
    }
  });

  test('of a fresh machine is empty', async () => {
    const shop = await openShop();
    expect(await shop.run('history list --json')).toMatchObject({ code: 0, stdout: '[]\n' });
    expect((await shop.run('history list', { terminal: 80 })).stderr).toBe('Nothing to show.\n');
  });
});

describe('history show', () => {
  test('has every row, with reason and ref, and never the key', async () => {
    const shop = await openShop();
    const { report } = await apply(shop, 'petId,quantity,expected,reason,ref\n4,12,,sold,R-1\n6,1,2,,\n');
    const { stdout, stderr } = await shop.run(['history', 'show', report.run, '--json']);
    const shown = JSON.parse(stdout);
    expect(shown).toMatchObject({ run: report.run, env: 'staging', command: 'inventory apply', undoneBy: [] });
    expect(shown.rows).toMatchObject([
      { row: 1, line: 2, petId: 4, before: 39, after: 12, state: 'applied', reason: 'sold', ref: 'R-1' },
      { row: 2, line: 3, petId: 6, before: 14, after: 1, state: 'conflict', error: { code: 'conflict' } },
    ]);
    expect(stdout + stderr).not.toContain(shop.service.key);
    expect((await shop.run(['history', 'show', report.run.slice(-4)])).stdout).toContain('R-1');
  });

  test('of what is no run is exit 9, and no way to another file', async () => {
    const shop = await openShop();
    for (const run of ['20200101T000000Z-aaaa', 'zzzz', '../config', '']) {
      expect([2, 9]).toContain((await shop.run(['history', 'show', run])).code);
    }
  });

  test('does not trust what is in a file', async () => {
    const shop = await openShop();
    await apply(shop, 'petId,quantity,reason\n4,12,"\u001b[31mred\u001b]0;x\u0007"\n');
    const [run = ''] = (await list(shop)).map((each) => each.run);
    const { stdout } = await shop.run(['history', 'show', run], { terminal: 80 });
    expect(stdout).not.toContain('\u001b]0');
    expect(stdout).not.toContain('\u001b[31mred');
  });
});

describe('history prune', () => {
  const three = async () => {
    const shop = await openShop();
    for (const quantity of [1, 2, 3]) {
      await shop.run(`inventory set 4 ${quantity}`);
      shop.clock.advance(24 * 3600_000);
    }
    return shop;
  };

  test('removes what is old once that is agreed, and nothing else', async () => {
    const shop = await three();
    expect(await shop.run('history prune --before 36h')).toMatchObject({ code: 2 });
    expect(await list(shop)).toHaveLength(3);
    const pruned = await shop.run('history prune --before 36h --yes');
    expect(pruned).toMatchObject({ code: 0, stdout: '' });
    expect(pruned.stderr).toContain('2 runs removed.');
    expect(await list(shop)).toHaveLength(1);
  });

  test('is of one environment where that is named', async () => {
    const shop = await three();
    await shop.run('history prune --keep 0 --yes --env production');
    expect(await list(shop)).toHaveLength(3);
    expect((await shop.run('history prune --keep 0 --yes --env staging')).stderr).toContain(
      '3 runs of staging removed.',
    );
  });

  test('keeps the latest, though all began in one second', async () => {
    const shop = await openShop();
    const numbers = [0.9, 0.1, 0.5, 0.3, 0.7];
    for (const [index, random] of numbers.entries()) {
      await shop.run(`inventory set 4 ${index}`, { random: () => random });
      shop.clock.advance(10);
    }
    const latest = (await list(shop))[0]?.run ?? '';
    expect(JSON.parse((await shop.run(['history', 'show', latest, '--json'])).stdout).rows[0].after).toBe(4);
    await shop.run('history prune --keep 1 --yes');
    expect((await list(shop)).map(({ run }) => run)).toEqual([latest]);
  });

  test('keeps the latest, and what can be gone on with', async () => {
    const shop = await three();
    await shop.run('history prune --keep 2 --yes');
    expect(await list(shop)).toHaveLength(2);
    expect(await shop.run('history prune')).toMatchObject({ code: 2 });
    expect(await shop.run('history prune --keep -1')).toMatchObject({ code: 2 });
  });

  test('a file that makes no sense does not hide the others', async () => {
    const shop = await three();
    const folder = join(shop.folders.state, 'history');
    const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.ndjson'));
    writeFileSync(join(folder, name), 'garbage\n');
    const { stdout, stderr } = await shop.run('history list -o tsv');
    expect(stdout.trim().split('\n')).toHaveLength(2);
    expect(stderr).toContain('Warning:');
  });
});
