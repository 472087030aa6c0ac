import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, serve, temporaryHome } from '../support/program.ts';

const rows = 300;
const noLimit = ['--limit-minute', '10000000', '--limit-day', '100000000'];

/** No file may grow beyond so many KiB: what a write meets on a full disk, without the rights to make one. */
const limited = (kibibytes: number) => ['bash', '-c', `ulimit -f ${kibibytes}; exec "$@"`, 'bash'];

test('a disk that fills up in the middle of a run: nothing is sent without its intent, and it is gone on with', async () => {
  const served = await serve(['--pets', `${rows}`, ...noLimit]);
  const options = { home: temporaryHome(), env: served.env };
  const file = join(options.home.folder, 'changes.csv');
  const petIds = (await runProgram('inventory list --fields petId', options)).stdout.trim().split('\n');
  writeFileSync(file, `petId,quantity\n${petIds.map((petId, index) => `${petId},${index + 1000}`).join('\n')}\n`);

  const full = await runProgram(['inventory', 'apply', file, '--yes', '--concurrency', '4'], {
    ...options,
    through: limited(56),
  });
  expect(full.code).toBe(8);
  expect(full.stderr).toContain("can't be written");
  const [run = ''] = readdirSync(join(options.home.state, 'history')).filter((name) => name.endsWith('.ndjson'));
  const intents = readFileSync(join(options.home.state, 'history', run), 'utf8').match(/"type":"intent"/g) ?? [];
  const patches = (await served.journal()).filter(({ method }) => method === 'PATCH');
  expect(patches.length).toBeGreaterThan(0);
  expect(patches.length).toBeLessThan(rows);
  expect(patches.length).toBeLessThanOrEqual(intents.length);

  const resume = ['inventory', 'apply', '--resume', run.replace('.ndjson', ''), '--yes', '--json'];
  const fullAgain = await runProgram(resume, { ...options, through: limited(60) });
  expect(fullAgain.code).toBe(8);
  expect(JSON.parse(fullAgain.stderr).error.hint).toContain('--resume');
  const resumed = await runProgram(resume, options);
  expect(resumed.code).toBe(0);
  expect(JSON.parse(resumed.stdout).counts).toMatchObject({ applied: rows });
  const stock = await runProgram('inventory list --fields quantity', options);
  expect(stock.stdout).toBe(petIds.map((_, index) => `${index + 1000}\n`).join(''));
});

test('a disk that is full from the start: exit 1, and nothing is sent', async () => {
  const served = await serve(noLimit);
  const options = { home: temporaryHome(), env: served.env };
  const file = join(options.home.folder, 'changes.csv');
  writeFileSync(file, 'petId,quantity\n4,12\n');
  const full = await runProgram(['inventory', 'apply', file, '--yes'], { ...options, through: limited(0) });
  expect(full.code).toBe(1);
  expect(full.stderr).toContain("can't be written");
  expect((await served.journal()).map(({ method }) => method)).not.toContain('PATCH');
});
