import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { type Clock, createSystemClock } from '../../../src/shared/clock.ts';
import { sqlite } from '../../../src/shared/sqlite-engine.ts';
import { temporaryDatabase } from '../../support/postgres.ts';
import { answers, normally } from '../../support/scripted-actions.ts';
import { tenEach } from '../../support/scripted-service.ts';
import { openTill, type Till } from '../../support/till.ts';
import { stateCopies } from './state-copies.ts';

const rows = 8;
const numbers = Array.from({ length: rows }, (_, index) => index + 1);
const stockOf = ({ service }: Till<Clock>) => numbers.map((petId) => service.stockOf(petId));
const fives = `petId,delta\n${numbers.map((petId) => `${petId},+5\n`).join('')}`;
const twelves = `petId,quantity\n${numbers.map((petId) => `${petId},12\n`).join('')}`;

/** A till whose state can be copied and restored. */
interface Kept {
  readonly till: Till<Clock>;
  keep(): Promise<void>;
  setBack(): Promise<void>;
}

const tables = ['limits', 'presence', 'services', 'line', 'leases', 'sightings', 'pruned', 'sequence', 'runs', 'rows'];

/** Restores the state by replacing its file. */
async function withFile(): Promise<Kept> {
  const till = await openTill({ stock: tenEach(rows) });
  const copy = stateCopies(till);
  return { till, keep: async () => copy('', '.older'), setBack: async () => copy('.older', '') };
}

/** Restores the state by overwriting its tables, as `sqlite3 .restore` does. */
async function inPlace(): Promise<Kept> {
  const till = await openTill({ stock: tenEach(rows) });
  const execute = (sqlOf: (table: string) => string) => {
    const database = new (sqlite().DatabaseSync)(join(till.folders.state, 'state.db'));
    database.exec(`BEGIN IMMEDIATE; ${tables.map(sqlOf).join('; ')}; COMMIT`);
    database.close();
  };
  return {
    till,
    keep: async () => execute((table) => `CREATE TABLE older_${table} AS SELECT * FROM ${table}`),
    setBack: async () => execute((table) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM older_${table}`),
  };
}

/** Restores the state on a database server, as from a backup. */
async function onServer(): Promise<Kept> {
  const url = await temporaryDatabase();
  const till = await openTill({ stock: tenEach(rows) }, createSystemClock(process.hrtime.bigint), {
    PETSTOCK_STATE_URL: url,
  });
  const execute = async (sqlOf: (table: string) => string) => {
    const client = new pg.Client(url);
    await client.connect();
    await client.query(`BEGIN; ${tables.map(sqlOf).join('; ')}; COMMIT`);
    await client.end();
  };
  return {
    till,
    keep: () => execute((table) => `CREATE TABLE public.older_${table} AS TABLE petstock.${table}`),
    setBack: () =>
      execute(
        (table) =>
          `DELETE FROM petstock.${table}; INSERT INTO petstock.${table} OVERRIDING SYSTEM VALUE TABLE public.older_${table}`,
      ),
  };
}

const ways: readonly (readonly [string, () => Promise<Kept>])[] = [
  ['another file', withFile],
  ['its tables written over', inPlace],
  ['a database that is set back', onServer],
];

/** Begins a run whose first row is refused, so that the others stay unsent. @returns its id */
async function begun({ service, run, file, history }: Till<Clock>, text: string): Promise<string | undefined> {
  service.next('PATCH', answers(400));
  await run(`inventory apply ${file('a.csv', text)} --yes --concurrency 1 --fail-fast --timeout 1`);
  return (await history())[0]?.run;
}

describe.each(ways)('an older state: %s', (_way, open) => {
  /** Begins a run, resumes it, and restores the state from before. @returns also the stock after the resume */
  const resumedBefore = async (text: string) => {
    const { till, keep, setBack } = await open();
    const run = await begun(till, text);
    await keep();
    await till.run(`inventory apply --resume ${run} --yes`);
    const written = stockOf(till);
    await setBack();
    return { till, run, written };
  };
  /** Applies a file of deltas, and restores the state from before. @returns also the command without --yes */
  const appliedBefore = async () => {
    const { till, keep, setBack } = await open();
    const apply = `inventory apply ${till.file('a.csv', fives)}`;
    await till.exits('inventory set 1 10', 0);
    await keep();
    await till.exits(`${apply} --yes`, 0);
    await setBack();
    return { till, apply };
  };

  test('writes each row at most once if an older state is restored during a run', async () => {
    const { till, keep, setBack } = await open();
    const run = await begun(till, fives);
    await keep();
    // Restores before the response, because otherwise the run might end first.
    till.service.next('PATCH', normally, normally, async (exchange) => {
      await setBack();
      await normally(exchange);
    });
    await till.run(`inventory apply --resume ${run} --yes --concurrency 1`);
    const before = stockOf(till);
    const results = new Map((await till.rows()).map(({ petId, result }) => [petId, result]));
    expect(numbers.filter((petId) => results.get(petId) === 'applied')).toEqual(
      numbers.filter((petId) => before[petId - 1] === 15),
    );
    await till.run(`inventory apply --resume ${run} --yes`);
    for (const stock of stockOf(till)) expect([10, 15]).toContain(stock);
    await till.exits('state check', 0);
  });

  test('reports deltas of an open run as conflicts in an older state, and does not resend them', async () => {
    const { till, run, written } = await resumedBefore(fives);
    expect(written).toEqual([10, ...Array(rows - 1).fill(15)]);
    await till.exits(`inventory apply --resume ${run} --yes`, 8, 'earlier copy');
    expect((await till.rows()).map(({ result }) => result)).toEqual(['failed', ...Array(rows - 1).fill('conflict')]);
    await till.run(`inventory apply --resume ${run} --yes`);
    await till.exits(`inventory apply ${till.file('a.csv', fives)} --yes`, 2, 'may have been applied');
    expect(stockOf(till)).toEqual(written);
    await till.exits('state check', 0);
  });

  test('decides rows with a quantity by the stock after an older state is restored', async () => {
    const { till, run } = await resumedBefore(twelves);
    till.service.sell(2, 1);
    await till.exits(`inventory apply --resume ${run} --yes --timeout 1`, 8, 'conflict');

    expect(stockOf(till)).toEqual([10, 11, ...Array(rows - 2).fill(12)]);
  });

  test('refuses a file of deltas the first time after an older state is restored', async () => {
    const { till, apply } = await appliedBefore();
    await till.exits(`${apply} --yes`, 7, 'not known whether');
    expect(stockOf(till)).toEqual(Array(rows).fill(15));
    await till.exits(`${apply} --yes`, 0);
  });

  test('shows the deltas of an open run as conflicts after an older state is restored', async () => {
    const { till, run, written } = await resumedBefore(fives);
    const sent = till.service.seen('PATCH').length;
    for (let look = 0; look < 2; look += 1) {
      const unclear = `may or may not have written ${rows - 1} rows`;
      const shown = await till.exits(`history show ${run} --json`, 0, ['earlier copy', unclear]);
      expect(shown.stderr).not.toContain('--resume');
      const { counts, state, rows: shownRows } = JSON.parse(shown.stdout);
      expect({ counts, state }).toMatchObject({ counts: { pending: 0, conflict: rows - 1 }, state: 'done' });
      expect(shownRows.map((row: { result: string }) => row.result)).toEqual([
        'failed',
        ...Array(rows - 1).fill('conflict'),
      ]);
      expect(await till.json(`history show ${run} --state pending --json`)).toMatchObject({ rows: [] });
      await till.exits('history list', 0, 'earlier copy');
      const { stdout } = await till.exits(`inventory apply --resume ${run} --dry-run --json`, 8, [
        'earlier copy',
        'not known whether this row was written',
      ]);
      expect(stdout).not.toContain('"result":"planned"');
      await till.exits(`undo ${run} --dry-run`, 2, unclear);
      await till.exits('undo --last --dry-run', 9, unclear);
      await till.exits('inventory apply --resume latest --dry-run', 9, ['no unfinished run', unclear]);
    }
    expect(till.service.seen('PATCH')).toHaveLength(sent);
    await till.run(`inventory apply --resume ${run} --yes`);
    expect(stockOf(till)).toEqual(written);
    await till.exits('state check', 0);
  });

  test('shows quantities of an older state as unknown, and decides them by the stock in a dry run', async () => {
    const { till, run } = await resumedBefore(twelves);
    till.service.sell(2, 1);
    const { rows: shown } = await till.json(`history show ${run} --json`);
    expect(shown.map(({ result }: { result: string }) => result)).toEqual([
      'failed',
      ...Array(rows - 1).fill('unknown'),
    ]);
    const dry = await till.exits(`inventory apply --resume ${run} --dry-run --json --timeout 1`, 8, 'earlier copy');
    const results = JSON.parse(dry.stdout).rows.map(({ result }: { result: string }) => result);
    expect(results).toEqual(['failed', 'conflict', ...Array(rows - 2).fill('applied')]);
  });

  test('exits with 7, even in a dry run, if an older state may have lost the run of the file', async () => {
    const { till, apply } = await appliedBefore();
    await till.exits(`${apply} --dry-run`, 7, 'not known whether');
    await till.exits(`${apply} --dry-run`, 7, 'not known whether');
    await till.exits(`${apply} --yes`, 7, 'not known whether');
    expect(stockOf(till)).toEqual(Array(rows).fill(15));
  });

  test('refuses an undo the first time after an older state is restored', async () => {
    const { till, keep, setBack } = await open();
    await till.exits('inventory adjust 1 +5', 0);
    const [first] = await till.history();
    await keep();
    await till.exits(`undo ${first?.run} --yes`, 0);
    await till.exits('inventory adjust 1 +5', 0);
    await setBack();
    await till.exits('inventory set 3 12', 0, 'earlier copy');
    await till.exits(`undo ${first?.run} --dry-run`, 7, 'not known whether');
    await till.exits(`undo ${first?.run} --yes`, 7, 'was already undone');
    expect(till.service.stockOf(1)).toBe(15);
    await till.exits(`undo ${first?.run} --yes`, 0);
    expect(till.service.stockOf(1)).toBe(10);
  });

  test('does not reuse sequence numbers of the history after an older state is restored', async () => {
    const { till, keep, setBack } = await open();
    await till.exits('inventory set 1 12', 0);
    await keep();
    await till.exits('inventory set 2 12', 0);
    const seen = (await till.json('history export - --json')) as readonly { seq: number }[];
    await setBack();
    await till.exits('inventory set 3 12', 0, 'earlier copy');
    const now = (await till.json('history export - --json')) as readonly { seq: number }[];
    expect(now.at(-1)?.seq).toBeGreaterThan(seen.at(-1)?.seq ?? 0);
    await till.exits('inventory set 4 12', 0);
  });
});

test('does not resend rows after the newer state is put back over an older copy', async () => {
  const till = await openTill({ stock: tenEach(rows) });
  const copy = stateCopies(till);
  till.service.next(
    'PATCH',
    (exchange) => {
      copy('', '.older');
      return normally(exchange);
    },
    normally,
    (exchange) => {
      copy('', '.newer');
      copy('.older', '');
      return normally(exchange);
    },
  );
  await till.run(`inventory apply ${till.file('a.csv', fives)} --yes --concurrency 1`);
  const [run] = await till.history();
  await till.exits(`inventory apply --resume ${run?.run} --yes`, 0);
  expect(stockOf(till)).toEqual(Array(rows).fill(15));
  copy('.newer', '');
  for (const petId of numbers) till.service.sell(petId, 5);
  till.clock.advance(60_000);
  await till.exits(`inventory apply --resume ${run?.run} --yes`, 8, 'earlier copy');
  expect(stockOf(till)).toEqual(Array(rows).fill(10));
});

test('does not resend rows after the old state is put back over a new, empty state', async () => {
  const till = await openTill({ stock: tenEach(rows) });
  const copy = stateCopies(till);
  const run = await begun(till, fives);
  copy('', '.away');
  copy('.none', '');
  const apply = `inventory apply ${till.file('a.csv', fives)} --yes`;
  await till.exits(apply, 7, 'not known whether');
  await till.exits(apply, 0);
  expect(stockOf(till)).toEqual(Array(rows).fill(15));
  copy('.away', '');
  expect((await till.json(`history show ${run} --json`)).counts).toMatchObject({ pending: 0, conflict: rows - 1 });
  await till.exits(`inventory apply --resume ${run} --yes`, 8, 'earlier copy');
  await till.run(`inventory apply --resume ${run} --yes`);
  expect(stockOf(till)).toEqual(Array(rows).fill(15));
  await till.exits('state check', 0);
});
