import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { petstockAt } from '../support/petstock.ts';
import { serve } from '../support/program.ts';
import { stockOf } from '../support/shop.ts';

/** Starts a service with a fault and a limit that is never reached. */
const serveSlowly = (fault: string) => serve({ limits: { minute: 1e7, day: 1e8 }, faults: [fault] });

test('shows a question and the progress of apply on a terminal', async () => {
  const petstock = petstockAt(await serveSlowly('PATCH /inventory/*:delay=100'));
  const lines = [...(await stockOf(petstock))].map(([petId, quantity]) => `${petId},${quantity + 5}`);
  const file = petstock.file('changes.csv', ['petId,quantity', ...lines]);
  const program = petstock.start(['inventory', 'apply', file, '--concurrency', '2'], { terminal: 80 });
  await program.until('stdout', 'Write 24 changes to staging?');
  program.type('y\r');
  const { code, stdout } = await program.result;
  expect(code).toBe(0);
  expect(stdout).toMatch(/█.*\d+\/24/);
  expect(stdout).toContain('24 applied.');
});

test('keeps the exit code of apply and writes --failed-out if the reader of its report exits early', async () => {
  const served = await serveSlowly('PATCH /inventory/4:delay=300');
  const petstock = petstockAt(served);
  const file = petstock.file('changes.csv', ['petId,quantity,expected', '4,1,39', '5,7,99']);
  const failed = join(petstock.home.folder, 'failed.csv');
  const program = petstock.start(['inventory', 'apply', file, '--yes', '-o', 'csv', '--failed-out', failed]);
  await served.untilSeen(2);
  program.hangUp('stdout');
  expect(await program.result).toMatchObject({ code: 8 });
  expect(readFileSync(failed, 'utf8')).toContain('\n5,,99,7,,\n');
  expect((await stockOf(petstock)).get('4')).toBe(1);
});
