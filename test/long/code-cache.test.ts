import { expect, test } from 'vitest';
import { cachesIn, commands, damages, runCached, warmHome } from '../support/code-caches.ts';

test('32 processes at once make caches, and all that they leave is sound', { timeout: 600_000 }, async () => {
  const { home, printed } = await warmHome();
  for (let round = 0; round < 3; round += 1) {
    for (const path of cachesIn(home)) damages.empty?.(path);
    const results = await Promise.all(
      Array.from({ length: 32 }, (_, index) => runCached(home, commands[index % commands.length] ?? commands[0])),
    );
    for (const [index, result] of results.entries())
      expect(result).toEqual(printed.get(commands[index % commands.length] ?? ''));
    expect(cachesIn(home).filter((path) => path.includes('.'))).toEqual([]);
    for (const command of commands) expect(await runCached(home, command)).toEqual(printed.get(command));
  }
});

test('a full disk costs the cache and nothing else', async () => {
  const { home, printed } = await warmHome();
  for (const path of cachesIn(home)) damages.empty?.(path);
  // No file may grow beyond so many KiB; Node ignores SIGXFSZ.
  const through = ['bash', '-c', 'ulimit -f 64; exec "$@"', 'bash'];
  for (const command of commands) expect(await runCached(home, command, { through })).toEqual(printed.get(command));
  expect(cachesIn(home).filter((path) => path.includes('.'))).toEqual([]);
});
