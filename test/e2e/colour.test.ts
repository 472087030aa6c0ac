import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, temporaryHome } from '../support/program.ts';

// What decides is in test/cli/colour.test.ts; here is that the program sees its streams and variables.
test('each stream is judged by itself: stdout into a file, stderr on the terminal', async () => {
  const home = temporaryHome();
  const through = ['sh', '-c', 'exec "$@" > "$HOME/out"', 'sh'];
  const run = async (command: string, env = {}) => {
    const { stdout } = await runProgram(`--env sandbox ${command}`, { home, through, terminal: 80, env });
    return { file: readFileSync(join(home.folder, 'out'), 'utf8'), terminal: stdout };
  };
  const list = await run('inventory list -o table');
  expect(list.file).toContain('Quantity');
  expect(list.file).not.toContain('\x1b');
  expect((await run('inventory get 4242')).terminal).toContain('\x1b[31m');
  expect((await run('inventory get 4242', { NO_COLOR: '1' })).terminal).not.toContain('\x1b[');
  expect((await run('inventory list -o table', { FORCE_COLOR: '1' })).file).toContain('\x1b[');
});
