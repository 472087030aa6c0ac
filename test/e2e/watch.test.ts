import { expect, test } from 'vitest';
import { runProgram, serve, startProgram, temporaryHome } from '../support/program.ts';

test('watch sees what another command writes, and Ctrl-C ends it with 0', async () => {
  const { env } = await serve();
  const home = temporaryHome();
  const program = startProgram('inventory watch --interval 0.2', { env, home });
  await program.until('stderr', 'Watching 24 pets');
  await runProgram('inventory set 4 12', { env, home });
  const stdout = await program.until('stdout', '\n');
  expect(JSON.parse(stdout)).toMatchObject({ petId: 4, before: 39, after: 12, change: 'changed' });
  program.kill('SIGINT');
  const result = await program.result;
  expect(result).toMatchObject({ code: 0, signal: null });
  expect(result.stderr).not.toContain('Error');
});

test('watch ends quietly with its next line once its reader has gone away', async () => {
  const { env } = await serve();
  const home = temporaryHome();
  const through = ['bash', '-c', '"$@" | head -1; exit "$PIPESTATUS"', 'bash'];
  const program = startProgram('inventory watch --interval 0.2', { env, home, through });
  await program.until('stderr', 'Watching 24 pets');
  await runProgram('inventory set 4 12', { env, home });
  await program.until('stdout', '\n');
  await runProgram('inventory set 4 13', { env, home });
  const result = await program.result;
  expect(result).toMatchObject({ code: 0, signal: null });
  expect(result.stderr).not.toContain('Error');
});
