import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildProject } from '../support/build.ts';
import { scale } from './scale.ts';
import { throughput } from './throughput.ts';

/**
 * `npm run bench -- service [--quick] [--pets 1000000]`: requests per second beside a bare server, and time and memory with
 * many pets. Linux, loopback; the first needs wrk (Debian: `apt-get install wrk`). Half a minute, or ten seconds.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: 'boolean', default: false }, pets: { type: 'string', default: '1000000' } },
  });
  const build = await buildProject({ serve: 'test/bench/service/serve.ts' });
  const folder = mkdtempSync(join(tmpdir(), 'petstock-bench-'));
  try {
    const server = { script: build.entry('serve'), folder };
    process.stdout.write(
      await throughput(server, values.quick ? { seconds: 1, rounds: 1 } : { seconds: 2, rounds: 3 }),
    );
    process.stdout.write(`\n${await scale(server, Number(values.pets))}`);
  } finally {
    rmSync(folder, { recursive: true });
    await build.remove();
  }
}
