import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { petstockAt, reportOf, within } from '../support/petstock.ts';
import { serve } from '../support/program.ts';
import { errorJson } from '../support/shop.ts';

const rows = 600;
/** A short timeout, because a resume waits until no request of the earlier run can be in flight. */
const timeout = ['--timeout', '0.5'];

/** Limits the size of files to this many KiB, so that writes fail as on a full disk. */
const limited = (kibibytes: number) => ({
  through: ['bash', '-c', `ulimit -f ${kibibytes}; exec "$@"`, 'bash'],
});

/** Starts a service with `rows` pets, and writes a file that sets the stock of each with `quantityOf`. */
async function opened(quantityOf: (index: number) => number) {
  const served = await serve({ pets: rows, limits: { minute: 1e7, day: 1e8 } });
  const petstock = petstockAt(served);
  const petIds = (await petstock.run('inventory list --fields petId')).stdout.trim().split('\n');
  const lines = petIds.map((id, index) => `${id},${quantityOf(index)}`);
  return { served, petstock, file: petstock.file('changes.csv', ['petId,quantity', ...lines]) };
}

test('sends no row without its intent if the disk fills up during a run, and resumes the run', async () => {
  const { served, petstock, file } = await opened((index) => index + 1000);
  const sent = async () => served.journal().filter(({ method }) => method === 'PATCH').length;

  const apply = ['inventory', 'apply', file, '--yes', '--concurrency', '4', ...timeout];
  const full = await petstock.run(apply, limited(400));
  expect(full.code).toBe(8);
  expect(full.stderr).toContain("can't be read or written");
  const patches = await sent();
  expect(patches).toBeGreaterThan(0);
  expect(patches).toBeLessThan(rows);
  const { run, state, counts } = await petstock.newest();
  expect(state).toBe('incomplete');
  // The disk has the intent of every row that was sent, but not every outcome.
  const { applied = 0, unknown = 0, pending = 0 } = counts;
  expect(applied).toBeLessThanOrEqual(patches);
  expect(applied + unknown).toBeGreaterThanOrEqual(patches);
  expect(applied + unknown + pending).toBe(rows);

  const resume = ['inventory', 'apply', '--resume', run, '--yes', '--json', ...timeout];
  // The database now contains what the first run wrote. There is room to begin, and to write some rows one by one.
  const roomToBegin = Math.ceil(statSync(join(petstock.home.state, 'state.db')).size / 1024) + 80;
  const fullAgain = await petstock.run([...resume, '--concurrency', '1'], limited(roomToBegin));
  expect(fullAgain.code).toBe(8);
  expect(errorJson(fullAgain.stderr).error.hint).toContain(`--resume ${run}`);
  const resumed = await petstock.run(resume);
  expect(resumed.code).toBe(0);
  expect(reportOf(resumed).counts).toMatchObject({ applied: rows });
  expect(await sent()).toBe(rows);
  const stock = await petstock.run('inventory list --fields quantity');
  expect(stock.stdout).toBe(Array.from({ length: rows }, (_, index) => `${index + 1000}\n`).join(''));
});

const sizes = [390, 395, 400, 405, 410, 415];
test.each(sizes)('exits with 8 and prints a resume command if the disk is full at %i KiB', async (kibibytes) => {
  const { petstock, file } = await opened(() => 1000);
  const apply = petstock.run(`inventory apply ${file} --yes --json --concurrency 4`, limited(kibibytes));
  const full = await within(20_000, 'apply', apply);
  expect(full.code).toBe(8);
  expect(errorJson(full.stderr).error.hint).toContain(`--resume ${reportOf(full).run}`);
});
