import { startService } from '../../src/service/index.ts';

/** Serves a file in a process of its own: argv is the options as JSON. Prints its URL; ends when its input does. */
const service = await startService({
  ...JSON.parse(process.argv[2] ?? ''),
  clock: { now: () => Date.UTC(2026, 2, 10, 12) },
});
process.stdout.write(`${service.url}\n`);
process.stdin.resume().once('end', () => void service.close());
