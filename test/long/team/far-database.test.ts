import { connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { seededStock } from '../../../src/service/index.ts';
import { Connections } from '../../../src/service/storage/postgres/connections.ts';
import { postgresPets } from '../../../src/service/storage/postgres/pets.ts';
import { prepare } from '../../../src/service/storage/postgres/schema.ts';
import { portOf } from '../../support/answering.ts';
import { runSql, temporaryDatabase } from '../../support/postgres.ts';
import { openTeam } from '../../support/team.ts';

/** Starts a proxy in front of a database, which counts round trips. */
async function countingDatabase() {
  const [, path = '', folder = ''] = /@(\/[^?]+)\?host=(.*)$/.exec(await temporaryDatabase()) ?? [];
  const socket = `${decodeURIComponent(folder)}/.s.PGSQL.5432`;
  let questions = 0;
  const server = createServer((near) => {
    const far = connect(socket);
    near.on('data', (data) => {
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

test('takes fewer than 60 round trips to plan the undo of 150 rows', async () => {
  const database = await countingDatabase();
  const team = await openTeam(database.url, { pets: 150, limits: { minute: 10_000, day: 100_000 } });
  const till = await team.machine('till');
  const printed = async (command: string) => {
    const { code, stdout } = await till.run(command);
    expect(code).toBe(0);
    return stdout;
  };
  const petIds = (await printed('inventory list --fields petId -o tsv --no-header -q')).trim().split('\n');
  const file = till.file('deltas.csv', ['petId,delta', ...petIds.map((petId) => `${petId},+1`)]);
  for (const again of ['', ' --again']) await printed(`inventory apply ${file} --yes -q${again}`);
  const [run] = (await printed('history list --limit 1 -o tsv --no-header -q')).split('\t');
  const undo = async () => {
    const before = database.questions();
    const { rows } = JSON.parse(await printed(`undo ${run} --dry-run --json`));
    expect(database.questions() - before).toBeLessThan(60);
    return rows.map(({ after }: { after: number }) => after);
  };
  const planned = await undo();
  expect(planned).toHaveLength(150);
  await runSql(database.url, `UPDATE petstock.rows SET before = NULL WHERE run = (SELECT max(id) FROM petstock.runs)`);
  expect(await undo()).toEqual(planned);
});

test('takes at most 12 round trips for an adjust', async () => {
  const database = await countingDatabase();
  const team = await openTeam(database.url);
  const till = await team.machine('till');
  await till.run('inventory list -q');
  const before = database.questions();
  expect(await till.run('inventory adjust 4 +1 -q')).toMatchObject({ code: 0 });
  expect(database.questions() - before).toBeLessThanOrEqual(12);
});

test("takes one round trip to change a pet in the service's database, or fifty pets at once", async () => {
  const database = await countingDatabase();
  const connections = new Connections([database.url]);
  onTestFinished(() => connections.close());
  await prepare(connections, seededStock({ pets: 50 }));
  const pets = postgresPets(connections, () => Date.now());
  const petIds = [...seededStock({ pets: 50 }).items].map(({ petId }) => petId);
  const asked = async (work: () => Promise<unknown>) => {
    const before = database.questions();
    await work();
    return database.questions() - before;
  };
  const set = (petId: bigint, quantity: bigint) => async () => {
    expect(await pets.setQuantity(petId, quantity)).toMatchObject({ petId, quantity });
  };
  await set(1n, 3n)();
  expect(await asked(set(1n, 4n))).toBe(1);
  expect(await asked(() => Promise.all(petIds.map((petId) => set(petId, 9n)())))).toBe(1);
});
