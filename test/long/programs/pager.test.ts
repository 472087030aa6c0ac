import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';
import { serve, startProgram } from '../../support/program.ts';

const list = 'inventory list --color never';
const lessOnly = { PAGER: undefined, LESS: undefined };

test('shows a list in less, which survives Ctrl-C and reaches the end', async () => {
  const { env } = await serve({ pets: 150 });
  const program = startProgram(list, { env: { ...env, ...lessOnly }, terminal: 80 });
  await program.until('stdout', 'SPACE more');
  const end = program.until('stdout', '  q close');
  let hasEnded = false;
  void end.then(() => {
    hasEnded = true;
  });
  program.type('\x03');
  // The terminal and less discard keys typed right after Ctrl-C, so `G` is typed until it works.
  await vi.waitFor(
    () => {
      if (!hasEnded) program.type('G');
      expect(hasEnded).toBe(true);
    },
    { timeout: 30_000, interval: 200 },
  );
  program.type('q');
  const { code, stdout } = await program.result;
  // The code is 130 if Ctrl-C came before less had the whole list.
  expect([0, 130]).toContain(code);
  expect(stripVTControlCharacters(stdout)).toMatch(/ {2}q close\s+Rate limit: /);
});

test('quits less at once if the list fits on the screen', async () => {
  const { env } = await serve({ pets: 22 });
  const { code, stdout } = await startProgram(`${list} --limit 22`, { env: { ...env, ...lessOnly }, terminal: 80 })
    .result;
  expect(code).toBe(0);
  expect(stdout).not.toContain('q close');
});
