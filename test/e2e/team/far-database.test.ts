import { connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDatabase } from '../../support/postgres.ts';
import { openTeam } from './team.ts';

/** In front of the database of a URL: counts what is asked. */
async function countingDatabase() {
  const [, path = '', folder = ''] = /@(\/[^?]+)\?host=(.*)$/.exec(await temporaryDatabase()) ?? [];
  const socket = `${decodeURIComponent(folder)}/.s.PGSQL.5432`;
  let questions = 0;
  const server = createServer((near) => {
    const far = connect(socket);
    near.on('data', () => {
      questions += 1;
    });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { readonly port: number };
  return { url: `postgresql://postgres@127.0.0.1:${port}${path}?sslmode=disable`, questions: () => questions };
}

test('an undo of many rows asks a database that is far away a few questions', async () => {
  const database = await countingDatabase();
  const team = await openTeam(database.url, { pets: 150, limits: { minute: 10_000, day: 100_000 } });
  const till = await team.machine('till');
  const { stdout } = await till.run('inventory list -o csv --no-header -q');
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => `${line.split(',')[0]},+1`);
  const file = till.file('deltas.csv', ['petId,delta', ...lines]);
  expect(await till.run(`inventory apply ${file} --yes -q`)).toMatchObject({ code: 0 });
  const { stdout: run } = await till.run('history list --limit 1 -o tsv --no-header -q');
  const before = database.questions();
  expect(await till.run(`undo ${run.split('\t')[0]} --dry-run -q`)).toMatchObject({ code: 0 });
  expect(database.questions() - before).toBeLessThan(60);
});
