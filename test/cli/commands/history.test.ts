import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { recordRun, useState } from '../../support/recorded-runs.ts';
import { changeFile, noCounts, openShop, type Shop, test } from '../../support/shop.ts';
import { stateSql } from '../../support/state-sql.ts';

interface ListedRun {
  readonly run: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly [field: string]: unknown;
}

const list = async (shop: Shop, ...args: string[]) => {
  const { stdout } = await shop.run(['history', 'list', '--json', ...args]);
  return JSON.parse(stdout) as readonly ListedRun[];
};
const ids = async (shop: Shop, ...args: string[]) => (await list(shop, ...args)).map(({ run }) => run);
const applied = (petId: bigint, before: number, after: number) =>
  ({ petId, before, after, result: 'applied', quantity: after }) as const;

describe('history list', () => {
  test('has every run, the latest first, with what became of it; and sends nothing', async ({ shop }) => {
    const first = await recordRun(shop, [applied(22n, 2, 3)], { command: 'inventory set', file: undefined });
    const second = await recordRun(
      shop,
      [
        applied(4n, 5, 9),
        { petId: 5n, before: 1, after: 500, result: 'differs', quantity: 100 },
        { petId: 6n, before: 1, after: 2, result: 'unknown' },
        { petId: 7n, before: 1, after: 2, result: 'pending' },
      ],
      { reason: 'stock-take' },
    );
    const result = await shop.run('history list --json');
    expect(result.requests).toEqual([]);
    const [latest, oldest] = JSON.parse(result.stdout);
    expect(latest).toEqual({
      ...{ run: second, at: expect.stringMatching(/^2026-01-15T12:00:\d\d\.\d{3}Z$/), env: 'staging', store: null },
      ...{ baseUrl: shop.service.url, command: 'inventory apply', user: 'anna', host: 'till-1', file: 'stock.csv' },
      ...{ reason: 'stock-take', undoes: null, undoneBy: [], changes: 4, units: 505, pets: [4, 5, 6, 7] },
      counts: { ...noCounts, applied: 1, unknown: 1, differs: 1, pending: 1 },
      state: 'incomplete',
    });
    expect(oldest).toMatchObject({ run: first, command: 'inventory set', changes: 1, file: null, state: 'done' });
  });

  test('says on a terminal which one was my mistake', async ({ shop }) => {
    await recordRun(shop, [applied(22n, 2, 3)], { command: 'inventory set' });
    await recordRun(
      shop,
      Array.from({ length: 20 }, (_, index) => applied(BigInt(index + 1), 1, 7)),
      { reason: 'sale' },
    );
    const { stdout } = await shop.run('history list --color never', { terminal: 120 });
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/).slice(1, 4))).toEqual([
      ['Change', 'Command', 'Result'],
      ['1, 2, 3 and 17 more: 120 units', 'apply', '20 applied'],
      ['22: 2 → 3', 'set', 'applied'],
      [],
    ]);
  });

  test('by pet, date, state and environment', async ({ shop }) => {
    // In the last minute of the day.
    shop.clock.advance((16 * 60 + 59) * 60_000 + 30_000);
    const old = await recordRun(shop, [applied(4n, 1, 2)]);
    shop.clock.advance(3 * 24 * 3600_000);
    const recent = await recordRun(shop, [{ petId: 9007199254740993n, before: 1, after: 2, result: 'pending' }]);
    expect(await ids(shop)).toEqual([recent, old]);
    expect(await ids(shop, '--pet', '4')).toEqual([old]);
    expect(await ids(shop, '--pet', '9007199254740992')).toEqual([]);
    expect(await ids(shop, '--pet', '9007199254740993')).toEqual([recent]);
    expect(await ids(shop, '--since', '1d')).toEqual([recent]);
    expect(await ids(shop, '--until', '2026-01-15')).toEqual([old]);
    expect(await ids(shop, '--since', '2026-01-16', '--until', '2026-01-17')).toEqual([]);
    expect(await ids(shop, '--env', 'staging')).toHaveLength(2);
    expect(await ids(shop, '--env', 'production')).toEqual([]);
    expect(await ids(shop, '--state', 'incomplete')).toEqual([recent]);
    expect(await ids(shop, '--state', 'done')).toEqual([old]);
    for (const wrong of ['yesterday', '2026-02-30', '7 d', '']) {
      expect(await shop.run(['history', 'list', '--since', wrong])).toMatchObject({ code: 2, stdout: '' });
    }
    expect(await shop.run('history list --state failed')).toMatchObject({ code: 2, stdout: '' });
    expect(await shop.run('history list --limit few')).toMatchObject({ code: 2, stdout: '' });
  });

  test('has 20 runs on a terminal, and says that there are more; elsewhere all', async ({ shop }) => {
    for (let count = 0; count < 20; count += 1) await recordRun(shop, [applied(4n, count, count + 1)]);
    expect((await shop.run('history list', { terminal: 120 })).stderr).toBe('');
    const [latest] = [await recordRun(shop, [applied(4n, 1, 2)])];
    const shown = await shop.run('history list', { terminal: 120 });
    expect(shown.stdout.trim().split('\n')).toHaveLength(21);
    expect(shown.stderr).toContain('petstock history list --limit');
    expect(await ids(shop)).toHaveLength(21);
    expect(await ids(shop, '--limit', '1')).toEqual([latest]);
    expect(await ids(shop, '--limit', '0')).toEqual([]);
  });

  test('of a fresh machine is empty, and makes no state', async ({ shop }) => {
    expect(await shop.run('history list --json')).toMatchObject({ code: 0, stdout: '[]\n' });
    expect((await shop.run('history list', { terminal: 80 })).stderr).toBe('Nothing to show.\n');
    expect(await shop.json('state info --json')).toMatchObject({
      engine: null,
      runs: 0,
      present: [],
    });
    expect((await shop.run('history export')).stdout).toBe('');
    expect(existsSync(shop.folders.state)).toBe(false);
  });
});

describe('history show', () => {
  const rows = [
    { ...applied(4n, 39, 12), reason: 'sold', ref: 'R-1' },
    { petId: 9223372036854775807n, before: 14, after: 1, result: 'conflict', quantity: 13 },
    { petId: 7n, before: 1, after: 2, result: 'unknown', error: { code: 'timeout', message: 'no answer' } },
    { petId: 8n, before: 1, after: 2, result: 'pending' },
  ] as const;

  test('is the run as in the list, with every row', async ({ shop }) => {
    const run = await recordRun(shop, rows);
    const [listed] = await list(shop);
    const { stdout, stderr } = await shop.run(['history', 'show', run, '--json']);
    const { rows: shown, ...facts } = JSON.parse(stdout);
    expect(facts).toEqual(listed);
    expect(shown).toMatchObject([
      { row: 1, line: 2, petId: 4, before: 39, after: 12, result: 'applied', quantity: 12, reason: 'sold', ref: 'R-1' },
      { row: 2, line: 3, before: 14, after: 1, result: 'conflict', quantity: 13 },
      { row: 3, line: 4, petId: 7, result: 'unknown', error: { code: 'timeout', message: 'no answer' } },
      { row: 4, line: 5, petId: 8, result: 'pending', quantity: null, at: null },
    ]);
    const fields = ['row', 'line', 'petId', 'before', 'after', 'result', 'quantity', 'error', 'reason', 'ref', 'at'];
    for (const row of shown) expect(Object.keys(row)).toEqual(fields);
    expect(stdout).toContain('"petId":9223372036854775807,');
    expect(stderr).toContain(`petstock inventory apply --resume ${run} --env staging`);
    expect(stderr).toContain(`petstock undo ${run} --env staging`);
    expect((await shop.run(['history', 'show', run.slice(-4)])).stdout).toContain('R-1');
  });

  test('--state is of rows with these results', async ({ shop }) => {
    const run = await recordRun(shop, rows);
    const results = async (...args: string[]) => {
      const { stdout } = await shop.run(['history', 'show', run, '--json', ...args]);
      return (JSON.parse(stdout) as { rows: { result: string }[] }).rows.map(({ result }) => result);
    };
    expect(await results('--state', 'conflict')).toEqual(['conflict']);
    expect(await results('--state', 'unknown,pending')).toEqual(['unknown', 'pending']);
    expect(await results('--state', 'applied', '--state', 'pending')).toEqual(['applied', 'pending']);
    expect(await results('--state', 'failed')).toEqual([]);
    expect(await shop.run(['history', 'show', run, '--state', 'lost'])).toMatchObject({ code: 2, stdout: '' });
  });

  test('of what is no run is exit 9, and no way to another file', async ({ shop }) => {
    for (const run of ['20200101T000000Z-aaaa', 'zzzz', '../config', '']) {
      expect([2, 9]).toContain((await shop.run(['history', 'show', run])).code);
    }
    await recordRun(shop, [applied(4n, 1, 2)]);
    expect((await shop.run(['history', 'show', '20200101T000000Z-aaaa'])).code).toBe(9);
  });
});

describe('history export', () => {
  test('is a line for each row that has its outcome, as they were settled', async ({ shop }) => {
    const first = await recordRun(shop, [applied(4n, 1, 2), applied(9007199254740993n, 3, 4)]);
    const second = await recordRun(shop, [applied(5n, 1, 2), { petId: 6n, before: 1, after: 2, result: 'pending' }], {
      env: 'production',
    });
    const { code, stdout, stderr } = await shop.run('history export');
    expect(code).toBe(0);
    expect(stderr).toContain('1 row has no outcome yet');
    const lines = stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { run: first, env: 'staging', row: 1, petId: 4, before: 1, after: 2, result: 'applied' },
      { run: first, row: 2, before: 3, after: 4 },
      { run: second, env: 'production', row: 1, petId: 5, result: 'applied' },
    ]);
    expect(lines[1]).toContain('"petId":9007199254740993,');
    const file = join(shop.folders.state, '..', 'history.ndjson');
    expect(await shop.run(['history', 'export', file])).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(file, 'utf8')).toBe(stdout);
    expect((await shop.run('history export --env production')).stdout).toBe(`${lines[2]}\n`);
    expect((await shop.run('history export --since 2026-01-16')).stdout).toBe('');
  });

  test('goes on after a cursor, whatever the clock does and however late a row is settled', async ({ shop }) => {
    const seen: { readonly run: string; readonly row: number; readonly seq: number }[] = [];
    const load = async () => {
      const after = seen.at(-1)?.seq ?? 0;
      const { stdout } = await shop.run(`history export --after ${after} -q`);
      seen.push(...stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])));
    };
    await useState(shop, async ({ history }) => {
      const head = { command: 'inventory apply', env: 'staging', store: undefined, baseUrl: shop.service.url };
      const row = { line: 1, before: 1, after: 2, reason: undefined };
      const rest = { service: shop.service.url, scope: 's', user: 'bob', unchanged: 0 };
      const late = await history.begin({ ...head, ...rest }, [
        { ...row, row: 1, petId: 4n, ref: 'night' },
        { ...row, row: 2, petId: 5n, ref: undefined },
      ]);
      const expires = shop.clock.monotonic() + 1000;
      await late.intend([{ row: 1, petId: 4n, expires }], undefined);
      await recordRun(shop, [applied(6n, 1, 2)]);
      await load();
      shop.clock.step(-3600_000);
      await late.settle([{ row: 1, petId: 4n, result: 'applied', quantity: 2 }]);
      await late.flush();
      await recordRun(shop, [applied(7n, 1, 2)]);
      await load();
      await late.end();
    });
    await load();
    const { stdout } = await shop.run('history export -q');
    expect(seen.map((line) => JSON.stringify(line)).join('\n')).toBe(stdout.trim());
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map(({ seq }) => seq).toSorted((a, b) => a - b));
    expect(seen).toMatchObject([{ petId: 6 }, { petId: 4 }, { petId: 7 }]);
    for (const filter of ['--ref night', '--user bob', '--pet 4', '--user bob --ref night']) {
      const found = (await shop.run(`history export ${filter}`)).stdout.trim().split('\n');
      expect(found.map((line) => JSON.parse(line))).toMatchObject([{ petId: 4, ref: 'night', user: 'bob' }]);
    }
    expect(await ids(shop, '--ref', 'night')).toHaveLength(1);
  });

  test('by cursor has in the end what a whole export has, by run and row: rows are resumed and undone meanwhile', async () => {
    const shop = await openShop({ faults: ['PATCH /inventory/6:status=500'] });
    const read = async (options: string) => (await shop.run(`history export -q ${options}`.trim())).stdout.trim();
    const rowsOf = (text: string) =>
      text
        .split('\n')
        .map((line): [string, { seq: number }] => [
          `${JSON.parse(line).run} ${JSON.parse(line).row}`,
          JSON.parse(line),
        ]);
    const warehouse = new Map<string, { seq: number }>();
    let cursor = 0;
    const load = async () => {
      const rows = rowsOf(await read(`--after ${cursor}`));
      for (const [key, row] of rows) warehouse.set(key, row);
      cursor = rows.at(-1)?.[1].seq ?? cursor;
      return rows.map(([, row]) => row);
    };
    const file = changeFile(shop, 'petId,quantity\n4,20\n6,20\n');
    expect((await shop.run(['inventory', 'apply', file, '--yes'])).code).toBe(8);
    expect(await load()).toMatchObject([{ petId: 4, result: 'applied' }]);
    shop.service.setFaults([]);
    expect((await shop.run('inventory apply --resume latest --yes')).code).toBe(0);
    expect(await load()).toMatchObject([{ petId: 6, result: 'applied' }]);
    expect((await shop.run('undo --last --yes')).code).toBe(0);
    expect(await load()).toMatchObject([
      { petId: 4, command: 'undo' },
      { petId: 6, command: 'undo' },
    ]);
    expect(new Map([...warehouse].sort(([, a], [, b]) => a.seq - b.seq))).toEqual(new Map(rowsOf(await read(''))));
  });

  test('is JSON, CSV or TSV where that is asked for, and no table', async ({ shop }) => {
    const error = { code: 'scripted', message: 'no, "never"', status: 400 };
    const run = await recordRun(shop, [
      applied(9007199254740993n, 3, 4),
      { petId: 5n, before: 1, after: 2, result: 'failed', error },
    ]);
    const lines = (await shop.run('history export')).stdout.trim().split('\n');
    for (const flag of ['--json', '-o json']) {
      expect((await shop.run(`history export ${flag}`)).stdout).toBe(`[\n${lines.join(',\n')}\n]\n`);
    }
    const csv = await shop.run('history export -o csv');
    const [header = '', first = '', second = ''] = csv.stdout.split('\n');
    expect(header.split(',')).toEqual(Object.keys(JSON.parse(lines[1] ?? '')));
    expect(first).toMatch(new RegExp(`^${run},staging,.*,9007199254740993,3,4,applied,`));
    expect(second).toContain(',failed,,"no, ""never""",');
    const file = join(shop.folders.state, '..', 'history.tsv');
    expect(await shop.run(['history', 'export', file, '-o', 'tsv', '--header'])).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(file, 'utf8').split('\n')[0]).toBe(header.replaceAll(',', '\t'));
    await shop.run('config set output table');
    expect((await shop.run('history export')).stdout.split('\n')).toHaveLength(3);
    expect(await shop.run('history export -o table')).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('history prune', () => {
  const three = async () => {
    const shop = await openShop();
    const runs: string[] = [];
    for (const quantity of [1, 2, 3]) {
      runs.unshift(await recordRun(shop, [applied(4n, 0, quantity)]));
      shop.clock.advance(24 * 3600_000);
    }
    return { shop, runs };
  };

  test('removes what is old once that is agreed, and nothing else', async () => {
    const { shop, runs } = await three();
    expect(await shop.run('history prune --before 36h')).toMatchObject({ code: 2 });
    expect(await ids(shop)).toEqual(runs);
    const pruned = await shop.run('history prune --before 36h --yes');
    expect(pruned).toMatchObject({ code: 0, stdout: '' });
    expect(pruned.stderr).toContain('2 runs removed.');
    expect(await ids(shop)).toEqual(runs.slice(0, 1));
  });

  test('is of one environment where that is named', async () => {
    const { shop, runs } = await three();
    await shop.run('history prune --keep 0 --yes --env production');
    expect(await ids(shop)).toEqual(runs);
    const { stderr } = await shop.run('history prune --keep 0 --yes --env staging');
    expect(stderr).toContain('3 runs of staging removed.');
  });

  test('keeps the latest, and what can be gone on with', async () => {
    const { shop, runs } = await three();
    await shop.run('history prune --keep 2 --yes');
    expect(await ids(shop)).toEqual(runs.slice(0, 2));
    expect(await shop.run('history prune')).toMatchObject({ code: 2 });
    expect(await shop.run('history prune --keep -1')).toMatchObject({ code: 2 });
    const open = await recordRun(shop, [{ petId: 4n, before: 1, after: 2, result: 'pending' }]);
    const kept = await shop.run('history prune --keep 0 --yes');
    expect(kept.stderr).toContain('1 run stays');
    expect(await ids(shop)).toEqual([open]);
    const newer = await recordRun(shop, [applied(9n, 1, 2)]);
    const floor = await shop.run('history prune --keep 0 --yes');
    expect(floor.stderr).toContain('2 runs stay');
    expect(floor.stderr).toContain('0 runs removed');
    expect(await ids(shop)).toEqual([newer, open]);
    await shop.run('history prune --keep 0 --incomplete --yes');
    expect(await ids(shop)).toEqual([]);
  });

  test('goes by the order of writes, wherever the clock was set to', async ({ shop }) => {
    const first = await recordRun(shop, [applied(4n, 1, 2)]);
    shop.clock.step(-48 * 3600_000);
    const second = await recordRun(shop, [applied(5n, 1, 2)]);
    expect(await ids(shop)).toEqual([second, first]);
    await shop.run('history prune --keep 1 --yes');
    expect(await ids(shop)).toEqual([second]);
  });

  test('makes an undo a conflict if a later write was removed', async ({ shop }) => {
    const env = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
    const before = (await shop.run('inventory get 4 -o csv --no-header')).stdout.split(',')[1];
    await shop.run('inventory adjust 4 +5');
    await shop.run('inventory adjust 4 -3 -e production', { env });
    await shop.run('inventory adjust 4 +3 -e production', { env });
    const removed = (await list(shop)).slice(0, 2);
    await shop.run('history prune --keep 0 --yes -e production', { env });
    const undo = await shop.run('undo --last --yes --json');
    expect(JSON.parse(undo.stdout).rows).toMatchObject([{ petId: 4, result: 'conflict' }]);
    for (const { run } of removed) expect(undo.stdout + undo.stderr).not.toContain(run);
    const after = (await shop.run('inventory get 4 -o csv --no-header')).stdout.split(',')[1];
    expect(Number(after)).toBe(Number(before) + 5);
  });

  test.for([
    ['of a new file', 'incremental'],
    ['of a file that sqlite3 has made of a dump', 'none'],
  ] as const)('gives the space back %s', async ([_what, vacuum], { shop }) => {
    const rows = Array.from({ length: 3000 }, (_, index) => ({
      ...applied(BigInt(index), 1, 2),
      reason: 'x'.repeat(200),
    }));
    await recordRun(shop, rows);
    await recordRun(shop, [applied(4n, 1, 2)]);
    await stateSql(shop.folders.state, `PRAGMA auto_vacuum = ${vacuum}`, 'VACUUM', 'PRAGMA wal_checkpoint(TRUNCATE)');
    const bytes = async () => (await shop.json('state info --json')).bytes as number;
    const full = await bytes();
    await shop.run('history prune --keep 1 --yes');
    expect(await bytes()).toBeLessThan(full / 4);
  });

  test('is what the setting keep-history does by itself, behind a run', async () => {
    const { shop, runs } = await three();
    await shop.run('config set keep-history 2d');
    expect(await shop.run('inventory adjust 4 +1')).toMatchObject({ code: 0 });
    const left = await ids(shop);
    expect(left).toHaveLength(2);
    expect(left[1]).toBe(runs[0]);
  });

  test('keeps an undo while the run that it takes back stays', async ({ shop }) => {
    const run = await recordRun(shop, [{ petId: 4n, before: 1, after: 2, result: 'pending' }]);
    const undo = await recordRun(shop, [applied(4n, 2, 1)], { command: 'undo', undoes: run });
    await shop.run('history prune --keep 0 --yes');
    expect(await ids(shop)).toEqual([undo, run]);
  });

  test('keeps a run that a process is at', async ({ shop }) => {
    await useState(shop, async ({ history }) => {
      const head = { command: 'inventory apply', env: 'staging', store: undefined, baseUrl: 'https://a/v1' };
      const row = { row: 1, line: 1, petId: 4n, before: 1, after: 2, reason: undefined, ref: undefined };
      const rest = { service: 'https://a/v1', scope: 's', user: undefined, unchanged: 0 };
      const log = await history.begin({ ...head, ...rest }, [row]);
      expect(await list(shop, '--state', 'running')).toHaveLength(1);
      await shop.run('history prune --keep 0 --incomplete --yes');
      expect(await ids(shop)).toEqual([log.run]);
      const { stdout } = await shop.run('state info -o tsv');
      expect(stdout).toMatch(/^present\tinventory apply, pid 7 on till-1, since /m);
    });
  });
});

describe('state', () => {
  test('info has its engine and its size, check says that it is sound', async ({ shop }) => {
    await recordRun(shop, [applied(4n, 1, 2), applied(5n, 1, 2)]);
    const { stdout, requests } = await shop.run('state info --json');
    expect(requests).toEqual([]);
    expect(JSON.parse(stdout)).toEqual({
      ...{ engine: 'sqlite', location: join(shop.folders.state, 'state.db'), schema: expect.any(Number) },
      ...{ bytes: expect.any(Number), runs: 1, rows: 2, present: [] },
    });
    expect(await shop.run('state check --json')).toMatchObject({ code: 0, stdout: '{"sound":true,"problems":[]}\n' });
    expect(await shop.run('state check')).toMatchObject({ code: 0, stdout: '', stderr: 'The state is sound.\n' });
  });

  test('check of a state that is damaged inside says so, and a write what to do', async ({ shop }) => {
    await shop.run('inventory adjust 4 1');
    const file = join(shop.folders.state, 'state.db');
    const place = "SELECT (rootpage - 1) * 4096 AS start FROM sqlite_schema WHERE name = 'runs'";
    const [page] = await stateSql(shop.folders.state, 'PRAGMA wal_checkpoint(TRUNCATE)', place);
    // The pages that the tables are declared in are sound, so the file opens.
    const start = Number(page?.start);
    writeFileSync(file, readFileSync(file).fill('x', start, start + 4096));
    const { code, stdout, stderr } = await shop.run('state check --json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ sound: false });
    expect(stderr).toContain('is damaged');
    const write = await shop.run('inventory adjust 4 1');
    expect(write).toMatchObject({ code: 1, stdout: '' });
    expect(write.stderr).toMatch(/^Error: The state in \S+ is damaged \(/m);
    expect(write.stderr).toMatch(/^Hint: mv /m);
  });
});
