import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { portOf } from '../../support/answering.ts';
import { runSql, temporaryDatabase } from '../../support/postgres.ts';
import { openTeam } from '../../support/team.ts';

/** In front of the database of a URL: counts what is asked. */
async function countingDatabase() {
  const [, path = '', folder = ''] = /@(\/[^?]+)\?host=(.*)$/.exec(await temporaryDatabase()) ?? [];
  const socket = `${decodeURIComponent(folder)}/.s.PGSQL.5432`;
  let questions = 0;
  const server = createServer((near) => {
    const far = connect(socket);
    near.on('data', (data) => {
      // Whoever hangs up waits for nothing.
      if (data[0] !== 0x58) questions += 1;
    });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => to.destroy());
      from.pipe(to);
    }
  });
  return {
    url: `postgresql://postgres@127.0.0.1:${await portOf(server)}${path}?sslmode=disable`,
    questions: () => questions,
  };
}

/** A till that has added 1 to each of 150 pets, twice. */
async function tillFarAway() {
  const database = await countingDatabase();
  const team = await openTeam(database.url, { pets: 150, limits: { minute: 10_000, day: 100_000 } });
  const till = await team.machine('till');
  const { stdout } = await till.run('inventory list -o csv --no-header -q');
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => `${line.split(',')[0]},+1`);
  const file = till.file('deltas.csv', ['petId,delta', ...lines]);
  for (const again of ['', ' --again']) {
    expect(await till.run(`inventory apply ${file} --yes -q${again}`)).toMatchObject({ code: 0 });
  }
  const { stdout: runs } = await till.run('history list --limit 1 -o tsv --no-header -q');
  const undo = async () => {
    const before = database.questions();
    const report = await till.run(`undo ${runs.split('\t')[0]} --dry-run --json`);
    expect(report).toMatchObject({ code: 0 });
    return { questions: database.questions() - before, rows: JSON.parse(report.stdout).rows };
  };
  return { database, undo };
}

test('an undo of many rows asks a database that is far away a few questions', async () => {
  const { undo } = await tillFarAway();
  expect((await undo()).questions).toBeLessThan(60);
});

test('and no more where the history has to say what the stock was', async () => {
  const { database, undo } = await tillFarAway();
  const { rows } = await undo();
  await runSql(database.url, `UPDATE petstock.rows SET before = NULL WHERE run = (SELECT max(id) FROM petstock.runs)`);
  const blind = await undo();
  expect(blind.questions).toBeLessThan(60);
  expect(blind.rows).toHaveLength(150);
  expect(blind.rows.map(({ after }: { after: number }) => after)).toEqual(
    rows.map(({ after }: { after: number }) => after),
  );
});

test('an adjust takes few round trips', async () => {
  const database = await countingDatabase();
  const team = await openTeam(database.url);
  const till = await team.machine('till');
  await till.run('inventory list -q');
  const before = database.questions();
  expect(await till.run('inventory adjust 4 +1 -q')).toMatchObject({ code: 0 });
  expect(database.questions() - before).toBeLessThanOrEqual(12);
});
