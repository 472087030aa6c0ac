import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { hasFullDevice } from '../support/capabilities.ts';
import { runProgram } from '../support/program.ts';
import { openShop } from '../support/shop.ts';

test('help has the width of the terminal', async () => {
  const columns = 61;
  const { code, stdout } = await runProgram('inventory apply --help', { terminal: columns });
  const shop = await openShop();
  const fromSources = await shop.run(['inventory', 'apply', '--help'], { terminal: columns });
  expect({ code, stdout: stripVTControlCharacters(stdout).replaceAll('\r\n', '\n') }).toEqual({
    code: 0,
    stdout: fromSources.stdout,
  });
});

test.runIf(hasFullDevice)('help on a full disk is an error', async () => {
  const through = ['sh', '-c', 'exec "$@" >/dev/full', 'sh'];
  const { code, stderr } = await runProgram('inventory list --help', { through });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Error: There is no space left on the disk; make room and try again\.$/m);
});

test('help whose reader has left ends quietly', async () => {
  const through = ['bash', '-c', '"$@" | :; exit "$PIPESTATUS"', 'bash'];
  const { code, stderr } = await runProgram('inventory apply --help', { through });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
