import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ProgramOptions, runProgram, serve, startProgram, temporaryHome } from '../support/program.ts';

const noLimit = ['--limit-minute', '10000000', '--limit-day', '100000000'];

test('a terminal is asked, and shown how far it has come', async () => {
  const served = await serve([...noLimit, '--fault', 'PATCH /inventory/*:delay=100']);
  const options = { home: temporaryHome(), env: served.env };
  const file = changes(
    options,
    [...(await stock(options))].map(([petId, quantity]) => [petId, quantity + 5]),
  );
  const program = startProgram(['inventory', 'apply', file, '--concurrency', '2'], { ...options, terminal: 80 });
  await program.until('stdout', 'Write 24 changes to staging?');
  program.type('y\r');
  const { code, stdout } = await program.result;
  expect(code).toBe(0);
  expect(stdout).toMatch(/█.*\d+\/24/);
  expect(stdout).toContain('24 applied.');
});

test('who reads no further takes nothing from the exit code and from --failed-out', async () => {
  const served = await serve([...noLimit, '--fault', 'PATCH /inventory/4:delay=300']);
  const options = { home: temporaryHome(), env: served.env };
  const file = join(options.home.folder, 'changes.csv');
  writeFileSync(file, 'petId,quantity,expected\n4,1,39\n5,7,99\n');
  const failed = join(options.home.folder, 'failed.csv');
  const program = startProgram(['inventory', 'apply', file, '--yes', '-o', 'csv', '--failed-out', failed], options);
  await served.untilSeen(2);
  program.hangUp('stdout');
  expect(await program.result).toMatchObject({ code: 8 });
  expect(readFileSync(failed, 'utf8')).toContain('\n5,,99,7,,\n');
  expect((await stock(options)).get('4')).toBe(1);
});

async function stock(options: ProgramOptions): Promise<ReadonlyMap<string, number>> {
  const { stdout } = await runProgram('inventory list -o tsv', options);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  return new Map(lines.map(([petId = '', quantity]) => [petId, Number(quantity)]));
}

function changes({ home = temporaryHome() }: ProgramOptions, rows: readonly (readonly [string, number])[]): string {
  const file = join(home.folder, 'changes.csv');
  writeFileSync(file, `petId,quantity\n${rows.map((cells) => cells.join(',')).join('\n')}\n`);
  return file;
}
