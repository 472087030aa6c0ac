import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { countersOf, intend, lastIntent, settle } from '../../../src/state/intents.ts';
import { headOf, plannedRow, recordRun, stateSql, useState } from '../../support/recorded-runs.ts';
import { changeFile, jsonLines, noCounts, openShop, type Shop, stockOf, test } from '../../support/shop.ts';

const list = (shop: Shop, options = '') => shop.json(`history list --json ${options}`.trim());
const ids = async (shop: Shop, options?: string): Promise<readonly string[]> =>
  (await list(shop, options)).map(({ run }: { readonly run: string }) => run);
const applied = (petId: bigint, before: number, after: number) =>
  ({ petId, before, after, result: 'applied', quantity: after }) as const;
const pending = (petId: bigint, ref?: string) => ({ petId, before: 1, after: 2, result: 'pending', ref }) as const;
const linesOf = (text: string) => text.trimEnd().split('\n');

test('shows and undoes a run of the year 10000 by its id', async ({ shop }) => {
  const clock = { ...shop.clock, now: () => Date.UTC(10_000, 0, 1, 12) };
  const { run } = await shop.json('inventory adjust 4 +1 --json', { clock });
  await shop.exits(`history show ${run}`, 0);
  await shop.exits(`undo ${run} --yes`, 0);
});

describe('history list', () => {
  test('history list shows units, user and reference of each run, and environments only if they differ', async () => {
    const shop = await openShop();
    const env = { NO_COLOR: '1', USER: 'kim' };
    const stdin = 'petId,delta\n4,9\n5,4\n8,-1\n';
    await shop.exits('inventory apply - --ref D-1009 --yes', 0, [], { env, stdin });
    const lines = async (width = 100) =>
      linesOf((await shop.run('history list', { terminal: width, env })).stdout).map((line) =>
        line.trim().split(/ {2,}/),
      );
    expect(await lines()).toEqual([
      ['At', 'Change', 'Command', 'Result', 'Run', 'By', 'Ref'],
      [expect.anything(), '3 pets: +13 −1', 'apply', '3 applied', expect.stringMatching(/^\w{4}$/), 'kim', 'D-1009'],
    ]);
    expect((await lines(60))[1]).toEqual(expect.arrayContaining(['3 pets: +13 −1', 'kim']));
    const production = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
    await shop.exits('inventory adjust 4 +1 -e production', 0, [], { env: { ...env, ...production } });
    expect((await lines())[0]).toContain('Env');
  });

  test('lists no number of units for a stock that was not read before it was set', async ({ shop }) => {
    await shop.exits('inventory set 4 5', 0);
    const [run] = await shop.json('history list --json');
    expect(run).toMatchObject({ changes: 1, units: null });
    expect((await shop.run('history show latest', { terminal: 80 })).stderr).not.toContain('unit');
    await shop.exits('inventory adjust 4 -3', 0);
    expect((await shop.json('history list --json'))[0]).toMatchObject({ units: 3 });
  });

  test('lists runs with the latest first, and shows each row with its outcome', async ({ shop }) => {
    const first = await recordRun(shop, [applied(22n, 2, 3)], { command: 'inventory set', file: undefined });
    const rows = [
      { ...applied(4n, 39, 12), reason: 'sold', ref: 'R-1' },
      { petId: 9223372036854775807n, before: 14, after: 1, result: 'conflict', quantity: 13 },
      { ...pending(7n), result: 'unknown', error: { code: 'timeout', message: 'no answer' } },
      pending(8n),
      { petId: 5n, before: 1, after: 500, result: 'differs', quantity: 100 },
    ] as const;
    const second = await recordRun(shop, rows, { reason: 'stock-take' });
    const listed = await shop.run('history list --json');
    expect(listed.stdout).toContain('"pets":[4,9223372036854775807,7,8,5]');
    const [latest, oldest] = JSON.parse(listed.stdout);
    expect(latest).toEqual({
      run: second,
      at: expect.stringMatching(/^2026-01-15T12:00:\d\d\.\d{3}Z$/),
      env: 'staging',
      store: null,
      baseUrl: shop.service.url,
      command: 'inventory apply',
      user: 'anna',
      host: 'till-1',
      file: 'stock.csv',
      reason: 'stock-take',
      undoes: null,
      undoneBy: [],
      changes: 5,
      units: 541,
      pets: expect.anything(),
      counts: { ...noCounts, applied: 1, conflict: 1, unknown: 1, differs: 1, pending: 1 },
      state: 'incomplete',
    });
    expect(oldest).toMatchObject({ run: first, command: 'inventory set', changes: 1, file: null, state: 'done' });

    const shown = await shop.exits(`history show ${second} --json`, 0, [
      `petstock inventory apply --resume ${second} --env staging`,
      `petstock undo ${second} --env staging`,
    ]);
    expect([listed.requests, shown.requests]).toEqual([[], []]);
    const { rows: shownRows, ...facts } = JSON.parse(shown.stdout);
    expect(facts).toEqual(latest);
    expect(shownRows).toMatchObject([
      { row: 1, line: 2, petId: 4, before: 39, after: 12, result: 'applied', quantity: 12, reason: 'sold', ref: 'R-1' },
      { row: 2, line: 3, before: 14, after: 1, result: 'conflict', quantity: 13 },
      { row: 3, line: 4, petId: 7, result: 'unknown', error: { code: 'timeout', message: 'no answer' } },
      { row: 4, line: 5, petId: 8, result: 'pending', quantity: null, at: null },
      { row: 5, line: 6, petId: 5, result: 'differs', quantity: 100 },
    ]);
    const fields = ['row', 'line', 'petId', 'before', 'after', 'result', 'quantity', 'error', 'reason', 'ref', 'at'];
    for (const row of shownRows) expect(Object.keys(row)).toEqual(fields);
    expect(shown.stdout).toContain('"petId":9223372036854775807,');
    expect((await shop.run(`history show ${second.slice(-4)}`)).stdout).toContain('R-1');
    for (const [states, ...results] of [
      ['conflict', 'conflict'],
      ['unknown,pending', 'unknown', 'pending'],
      ['applied --state pending', 'applied', 'pending'],
      ['failed'],
    ]) {
      const { rows } = await shop.json(`history show ${second} --json --state ${states}`);
      expect(rows.map(({ result }: { readonly result: string }) => result)).toEqual(results);
    }
    await shop.refused(`history show ${second} --state lost`);
  });

  test('filters the history by pet, date, state and environment', async ({ shop }) => {
    // It is the last minute of the day in New York, the time zone of the tests.
    shop.clock.advance((16 * 60 + 59) * 60_000 + 30_000);
    const old = await recordRun(shop, [applied(4n, 1, 2)]);
    shop.clock.advance(3 * 24 * 3600_000);
    const recent = await recordRun(shop, [pending(9007199254740993n)]);
    for (const [found, ...filters] of [
      [[recent, old], '', '--env staging'],
      [[old], '--pet 4', '--until 2026-01-15', '--state done'],
      [[recent], '--pet 9007199254740993', '--since 1d', '--state incomplete'],
      [[], '--pet 9007199254740992', '--since 2026-01-16 --until 2026-01-17', '--env production'],
    ] as const)
      for (const filter of filters) expect(await ids(shop, filter), filter).toEqual(found);
    for (const wrong of ['--since=tomorrow', '--since=2026-02-30', '--since=7 d', '--since=', '--state=failed'])
      await shop.refused(['history', 'list', wrong]);
    await shop.refused('history list --limit few');
  });

  test('accepts day names in --since and --until, and a period such as 1w in --since', async ({ shop }) => {
    // The clock is set to Thursday, 15 January 2026, noon UTC.
    const runs: string[] = [];
    shop.clock.step(-7 * 24 * 3600_000);
    for (let day = 0; day <= 7; day += 1) {
      runs.unshift(await recordRun(shop, [applied(4n, day, day + 1)]));
      shop.clock.step(24 * 3600_000);
    }
    shop.clock.step(-24 * 3600_000 + 3600_000);
    for (const [found, filter] of [
      [[0], '--since today'],
      [[0, 1], '--since Yesterday'],
      [[1], '--since yesterday --until yesterday'],
      [[0, 1, 2, 3], '--since monday'],
      [[3], '--since monday --until monday'],
      [[0], '--since thursday'],
      [[0, 1, 2, 3, 4, 5, 6], '--since friday'],
      [[0, 1, 2, 3, 4, 5, 6], '--since 1w'],
    ] as const) {
      expect(await ids(shop, filter), filter).toEqual(found.map((days) => runs[days]));
    }
  });

  test('history list prints 20 runs and a hint on a terminal, but all runs elsewhere', async ({ shop }) => {
    for (let count = 0; count < 20; count += 1) await recordRun(shop, [applied(4n, count, count + 1)]);
    expect((await shop.run('history list', { terminal: 120 })).stderr).toBe('');
    const latest = await recordRun(shop, [applied(4n, 1, 2)]);
    const shown = await shop.exits('history list', 0, 'petstock history list --limit', { terminal: 120 });
    await shop.exits('history list --pet 4', 0, 'petstock history list --pet 4 --limit=100', { terminal: 120 });
    expect(linesOf(shown.stdout)).toHaveLength(21);
    expect(await ids(shop)).toHaveLength(21);
    expect(await ids(shop, '--limit 1')).toEqual([latest]);
    expect(await ids(shop, '--limit 0')).toEqual([]);
  });

  test('prints an empty history on a fresh machine without creating a state', async ({ shop }) => {
    expect(await shop.run('history list --json')).toMatchObject({ code: 0, stdout: '[]\n' });
    expect((await shop.run('history list', { terminal: 80 })).stderr).toBe('Nothing to show.\n');
    expect(await shop.json('state info --json')).toMatchObject({ engine: null, runs: 0, running: [] });
    expect((await shop.run('history export')).stdout).toBe('');
    expect(existsSync(shop.folders.state)).toBe(false);
  });
});

describe('history show', () => {
  test('history show exits with 9 for a run that does not exist', async ({ shop }) => {
    for (const run of ['20200101T000000Z-aaaa', 'zzzz', '../config']) await shop.exits(`history show ${run}`, 9);
    await recordRun(shop, [applied(4n, 1, 2)]);
    await shop.exits('history show 20200101T000000Z-aaaa', 9);
    await shop.refused(['history', 'show', '']);
  });

  test.for(['../../../../tmp/xabcd', '$(touch x)abcd'])(
    'does not use the forged run id %j in a file name or a command',
    async (id, { shop }) => {
      await recordRun(shop, [{ petId: 4n, before: 39, after: 12, result: 'failed' }, pending(5n), applied(6n, 1, 2)]);
      await stateSql(shop.folders.state, `UPDATE runs SET run = '${id}'`);
      const home = join(shop.folders.state, '..');
      // Ignores the files of SQLite.
      const files = () =>
        readdirSync(home, { recursive: true, encoding: 'utf8' })
          .filter((name) => !/^state(?:\/state\.db.*)?$/.test(name))
          .sort();
      const before = files();
      for (const named of [id, 'abcd']) {
        const resume = ['inventory', 'apply', '--resume', named, '--yes'];
        const failedOut = [...resume, '--failed-out', join(home, 'failed.csv')];
        for (const command of [['history', 'show', named], ['undo', named, '--yes'], resume, failedOut]) {
          const { code, stderr, requests } = await shop.run(command);
          expect([1, 2, 9]).toContain(code);
          expect(requests).toEqual([]);
          expect(stderr).toMatch(/\nHint: petstock history list\n$/);
        }
      }
      await shop.exits('undo --last --yes', 9);
      for (const command of ['list --json', 'export']) await shop.exits(`history ${command}`, 0);
      expect(files()).toEqual(before);
      await shop.exits('history prune --keep 0 --incomplete --yes', 0);
      expect(files()).toEqual(before);
    },
  );
});

describe('history export', () => {
  test('exports the rows that have an outcome, in the order of outcomes, as NDJSON, JSON, CSV or TSV', async ({
    shop,
  }) => {
    const error = { code: 'scripted', message: 'no, "never"', status: 400 };
    const failed = { ...pending(5n), result: 'failed', error } as const;
    const first = await recordRun(shop, [applied(4n, 1, 2), applied(9007199254740993n, 3, 4)]);
    const second = await recordRun(shop, [failed, pending(6n)], { env: 'production' });
    const { stdout } = await shop.exits('history export', 0, '1 row of incomplete runs, without a final outcome.');
    expect(jsonLines(stdout)).toMatchObject([
      { run: first, env: 'staging', row: 1, petId: 4, before: 1, after: 2, result: 'applied' },
      { run: first, row: 2, before: 3, after: 4 },
      { run: second, env: 'production', row: 1, petId: 5, result: 'failed' },
    ]);
    const lines = linesOf(stdout);
    expect(lines[1]).toContain('"petId":9007199254740993,');
    const ndjson = join(shop.folders.state, '..', 'history.ndjson');
    expect((await shop.exits(`history export ${ndjson}`, 0)).stdout).toBe('');
    expect(readFileSync(ndjson, 'utf8')).toBe(stdout);
    expect((await shop.run('history export --env production')).stdout).toBe(`${lines[2]}\n`);
    expect((await shop.run('history export --since 2026-01-16')).stdout).toBe('');
    for (const flag of ['--json', '-o json']) {
      expect((await shop.run(`history export ${flag}`)).stdout).toBe(`[\n${lines.join(',\n')}\n]\n`);
    }
    const csv = linesOf((await shop.run('history export -o csv')).stdout);
    const fields = Object.keys(JSON.parse(lines[1] ?? ''));
    expect(csv[0]).toBe(fields.join(','));
    expect(csv[2]).toMatch(new RegExp(`^${first},staging,.*,9007199254740993,3,4,applied,`));
    expect(csv[3]).toContain(',failed,,"no, ""never""",');
    const tsv = join(shop.folders.state, '..', 'history.tsv');
    expect((await shop.exits(`history export ${tsv} -o tsv --header`, 0)).stdout).toBe('');
    expect(readFileSync(tsv, 'utf8').split('\n')[0]).toBe(fields.join('\t'));
    await shop.run('config set output table');
    expect((await shop.run('history export')).stdout).toBe(stdout);
    await shop.refused('history export -o table');
  });

  test('exports the same rows with --after as without it, even if outcomes, resumes and undos come late', async () => {
    const shop = await openShop({ faults: ['PATCH /inventory/9:status=500'] });
    const read = async (options: string) => jsonLines((await shop.run(`history export -q ${options}`.trim())).stdout);
    const byRow = (rows: readonly { run: string; row: number; seq: number }[]) =>
      rows.map((each) => [`${each.run} ${each.row}`, each] as const);
    const warehouse = new Map<string, { seq: number }>();
    let cursor = 0;
    const load = async () => {
      const rows = await read(`--after ${cursor}`);
      for (const [key, row] of byRow(rows)) warehouse.set(key, row);
      cursor = rows.at(-1)?.seq ?? cursor;
      return rows;
    };
    await useState(shop, async ({ state, history }) => {
      const rows = [pending(4n, 'night'), pending(5n)];
      const late = await history.begin({ ...headOf(shop), user: 'bob' }, rows.map(plannedRow));
      const [first] = late.rows;
      const sent = first === undefined ? [] : [first];
      await state.transact([lastIntent(late.service)], ([counters], moment) => {
        return { writes: intend(late, sent, countersOf(counters).last, moment, 1000), result: undefined };
      });
      await recordRun(shop, [applied(6n, 1, 2)]);
      expect(await load()).toMatchObject([{ petId: 6 }]);
      shop.clock.step(-3600_000);
      Object.assign(first ?? {}, { result: 'applied', quantity: 2, inFlightUntil: undefined });
      await state.transact([], (_answers, moment) => ({ writes: settle(late, sent, moment), result: undefined }));
      await recordRun(shop, [applied(7n, 1, 2)]);
      expect(await load()).toMatchObject([{ petId: 4 }, { petId: 7 }]);
      await history.end(late);
    });
    for (const filter of ['--ref night', '--user bob', '--pet 4', '--user bob --ref night']) {
      expect(await read(filter)).toMatchObject([{ petId: 4, ref: 'night', user: 'bob' }]);
    }
    expect(await ids(shop, '--ref night')).toHaveLength(1);
    await shop.exits(['inventory', 'apply', changeFile(shop, 'petId,quantity\n8,20\n9,20\n'), '--yes'], 8);
    expect(await load()).toMatchObject([{ petId: 8, result: 'applied' }]);
    shop.service.setFaults([]);
    await shop.exits('inventory apply --resume latest --yes', 0);
    expect(await load()).toMatchObject([{ petId: 9, result: 'applied' }]);
    await shop.exits('undo --last --yes', 0);
    expect(await load()).toMatchObject([8, 9].map((petId) => ({ petId, command: 'undo' })));
    const whole = byRow(await read(''));
    expect(new Map([...warehouse].sort(([, a], [, b]) => a.seq - b.seq))).toEqual(new Map(whole));
    expect(whole.map(([, { seq }]) => seq)).toEqual(whole.map(([, { seq }]) => seq).toSorted((a, b) => a - b));
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

  test('history prune removes only old runs with --before, and only one environment with --env', async () => {
    const { shop, runs } = await three();
    for (const command of ['--before 36h', '', '--keep -1']) await shop.refused(`history prune ${command}`.trim());
    await shop.run('history prune --keep 0 --yes --env production');
    expect(await ids(shop)).toEqual(runs);
    const pruned = await shop.exits(
      'history prune --before 36h --yes',
      0,
      'Removed 2 runs of all stores and environments.',
    );
    expect(pruned.stdout).toBe('');
    expect(await ids(shop)).toEqual(runs.slice(0, 1));
    await shop.exits('history prune --keep 0 --yes --env staging', 0, 'Removed 1 run of staging of all stores.');
  });

  test('history prune keeps the latest runs with --keep, and all runs since the oldest resumable run', async () => {
    const { shop, runs } = await three();
    await shop.run('history prune --keep 2 --yes');
    expect(await ids(shop)).toEqual(runs.slice(0, 2));
    const open = await recordRun(shop, [pending(4n)]);
    await shop.exits('history prune --keep 0 --yes', 0, '1 run stays');
    expect(await ids(shop)).toEqual([open]);
    const undo = await recordRun(shop, [applied(4n, 2, 1)], { command: 'undo', undoes: open });
    const newer = await recordRun(shop, [applied(9n, 1, 2)]);
    await shop.exits('history prune --keep 0 --yes', 0, ['3 runs stay', '0 runs of all stores']);
    expect(await ids(shop)).toEqual([newer, undo, open]);
    await shop.run('history prune --keep 0 --incomplete --yes');
    expect(await ids(shop)).toEqual([]);
  });

  test('history prune follows the order of writes even if the clock was set back', async ({ shop }) => {
    const first = await recordRun(shop, [applied(4n, 1, 2)]);
    shop.clock.step(-48 * 3600_000);
    const second = await recordRun(shop, [applied(5n, 1, 2)]);
    expect(await ids(shop)).toEqual([second, first]);
    await shop.run('history prune --keep 1 --yes');
    expect(await ids(shop)).toEqual([second]);
  });

  test('reports a conflict in an undo if a later write was pruned', async ({ shop }) => {
    const env = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
    await shop.run('inventory adjust 4 +5');
    await shop.run('inventory adjust 4 -3 -e production', { env });
    await shop.run('inventory adjust 4 +3 -e production', { env });
    const removed = (await ids(shop)).slice(0, 2);
    await shop.run('history prune --keep 0 --yes -e production', { env });
    const undo = await shop.run('undo --last --yes --json');
    expect(JSON.parse(undo.stdout).rows).toMatchObject([{ petId: 4, result: 'conflict' }]);
    for (const run of removed) expect(undo.stdout + undo.stderr).not.toContain(run);
    expect((await stockOf(shop)).get('4')).toBe(39 + 5);
  });

  test('removes runs older than the setting keep-history after a write', async () => {
    const { shop, runs } = await three();
    await shop.run('config set keep-history 2d');
    await shop.exits('inventory adjust 4 +1', 0);
    expect(await ids(shop)).toEqual([expect.any(String), runs[0]]);
  });

  test('does not prune a run that a process is writing', async ({ shop }) => {
    await useState(shop, async ({ history }) => {
      const { run } = await history.begin(headOf(shop), [plannedRow(pending(4n), 0)]);
      expect(await ids(shop, '--state running')).toEqual([run]);
      await shop.run('history prune --keep 0 --incomplete --yes');
      expect(await ids(shop)).toEqual([run]);
      const running = { run, command: 'inventory apply', user: 'anna', host: 'till-1', pid: 7 };
      expect((await shop.json('state info --json')).running).toMatchObject([running]);
      const { stdout } = await shop.run('state info -o table');
      expect(stdout).toMatch(/^running +\S+: inventory apply, anna, pid 7 on till-1, since /m);
    });
  });
});

describe('state', () => {
  test('shows the engine and size in state info, and reports a sound state in state check', async ({ shop }) => {
    await recordRun(shop, [applied(4n, 1, 2), applied(5n, 1, 2)]);
    const { stdout, requests } = await shop.run('state info --json');
    expect(requests).toEqual([]);
    expect(JSON.parse(stdout)).toEqual({
      engine: 'sqlite',
      location: join(shop.folders.state, 'state.db'),
      schema: expect.any(Number),
      bytes: expect.any(Number),
      runs: 1,
      rows: 2,
      running: [],
    });
    expect(await shop.run('state check --json')).toMatchObject({ code: 0, stdout: '{"sound":true,"problems":[]}\n' });
    expect(await shop.run('state check')).toMatchObject({ code: 0, stdout: '', stderr: 'The state is sound.\n' });
  });

  test('reports damage inside the state in state check, and suggests a repair when a write fails', async ({ shop }) => {
    await shop.run('inventory adjust 4 1');
    const file = join(shop.folders.state, 'state.db');
    const place = "SELECT (rootpage - 1) * 4096 AS start FROM sqlite_schema WHERE name = 'runs'";
    const [page] = await stateSql(shop.folders.state, 'PRAGMA wal_checkpoint(TRUNCATE)', place);
    // The pages that declare the tables are sound, so the file opens.
    const start = Number(page?.start);
    writeFileSync(file, readFileSync(file).fill('x', start, start + 4096));
    const check = await shop.exits('state check --json', 1, 'is damaged');
    expect(JSON.parse(check.stdout)).toMatchObject({ sound: false });
    const said = /^Error: The state in \S+ is damaged \([^)]*\)\. Without it/m;
    expect((await shop.exits('inventory adjust 4 1', 1, [said, /^Hint: mv /m])).stdout).toBe('');
    await shop.exits('inventory apply - --yes', 1, said, { stdin: 'petId,delta\n4,1\n5,1\n' });
  });
});
