import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';
import { serve, startProgram } from '../support/program.ts';

const list = 'inventory list --color never';
const lessOnly = { PAGER: undefined, LESS: undefined };

test('shows a list in less, which survives Ctrl-C and reaches the end', async () => {
  const { env } = await serve(['--pets', '150']);
  const program = startProgram(list, { env: { ...env, ...lessOnly }, terminal: 80 });
  await program.until('stdout', 'SPACE more');
  const end = program.until('stdout', '  q close');
  let hasEnded = false;
  void end.then(() => {
    hasEnded = true;
  });
  program.type('\x03');
  // Keys typed right after Ctrl-C are lost: the terminal and less discard them.
  await vi.waitFor(
    () => {
      if (!hasEnded) program.type('G');
      expect(hasEnded).toBe(true);
    },
    { timeout: 30_000, interval: 200 },
  );
  program.type('q');
  const { code, stdout } = await program.result;
  // 130 where Ctrl-C came before less had all of the list.
  expect([0, 130]).toContain(code);
  expect(stripVTControlCharacters(stdout)).toMatch(/ {2}q close\s+Rate limit: /);
});

test('quits less at once if the list fits on the screen', async () => {
  const { env } = await serve(['--pets', '22']);
  const { code, stdout } = await startProgram(`${list} --limit 22`, { env: { ...env, ...lessOnly }, terminal: 80 })
    .result;
  expect(code).toBe(0);
  expect(stdout).not.toContain('q close');
});
