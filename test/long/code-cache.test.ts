import { expect, test } from 'vitest';
import { seeded } from '../rate-limit/seeded.ts';
import { cachesIn, commands, damages, runCached, warmHome } from '../support/code-caches.ts';

const runs = Number(process.env.RUNS ?? 1000);

test(`prints the same in ${runs} runs with damaged code caches as with intact caches`, {
  timeout: 1_800_000,
}, async () => {
  const { home, printed } = await warmHome();
  const random = seeded(22);
  const kinds = Object.entries(damages);
  for (let run = 0; run < runs; run += 1) {
    const [what, damage] = kinds[run % kinds.length] ?? [];
    for (const path of cachesIn(home)) damage?.(path, random);
    const command = commands[Math.floor(random() * commands.length)] ?? commands[0];
    expect(await runCached(home, command), `run ${run}: ${what}`).toEqual(printed.get(command));
  }
});

test('prints the same with code caches of 32 concurrent processes as with those of one process', {
  timeout: 600_000,
}, async () => {
  const { home, printed } = await warmHome();
  for (let round = 0; round < 3; round += 1) {
    for (const path of cachesIn(home)) damages.empty?.(path, Math.random);
    const begun = Array.from({ length: 32 }, (_, index) => commands[index % commands.length] ?? commands[0]);
    const results = await Promise.all(begun.map((command) => runCached(home, command)));
    expect(results).toEqual(begun.map((command) => printed.get(command)));
    expect(cachesIn(home).filter((path) => path.endsWith('.new'))).toEqual([]);
    for (const command of commands) expect(await runCached(home, command)).toEqual(printed.get(command));
  }
});

test('prints the same without a code cache on a full disk as with an intact cache', async () => {
  const { home, printed } = await warmHome();
  for (const path of cachesIn(home)) damages.empty?.(path, Math.random);
  // No file may be larger than 64 KiB. Node ignores SIGXFSZ, so a larger write fails.
  const through = ['bash', '-c', 'ulimit -f 64; exec "$@"', 'bash'];
  for (const command of commands) expect(await runCached(home, command, { through })).toEqual(printed.get(command));
  expect(cachesIn(home).filter((path) => path.endsWith('.new'))).toEqual([]);
});
