import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, startProgram, temporaryHome } from '../../support/program.ts';

test('fails /readyz on a full disk, and keeps the changes confirmed before', async () => {
  const file = join(temporaryHome().folder, 'stock.db');
  const options = ['--port', '0', '--admin-port', '0', '--json', '--file', file, '--limit-minute', '100000'];
  const program = startProgram(['sandbox', 'serve', ...options], {
    through: ['bash', '-c', 'ulimit -f 400; exec "$@"', 'bash'],
  });
  const { url, key, admin } = JSON.parse(await program.until('stdout', '\n'));
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const set = async (quantity: number) =>
    (await fetch(`${url}/inventory/1`, { method: 'PATCH', headers, body: `{"quantity":${quantity}}` })).status;
  const look = async () => {
    const ready = (await fetch(`${admin}/readyz`)).status;
    const [, up] = /^petstock_store_up (\d)$/m.exec(await (await fetch(`${admin}/metrics`)).text()) ?? [];
    return `${ready} ${up}`;
  };
  expect(await look()).toBe('200 1');
  let quantity = 0;
  while ((await set(++quantity)) === 200) expect(quantity).toBeLessThan(5_000);
  const last = quantity - 1;
  for (let count = 0; count < 20; count++) {
    expect(await set(++quantity)).toBe(503);
    expect(await look()).toBe('503 0');
  }
  program.kill('SIGTERM');
  expect((await program.result).code).toBe(0);
  const { stdout } = await runProgram(['sandbox', 'export', '--file', file]);
  expect(stdout).toContain(`\n1,${last},`);
});
