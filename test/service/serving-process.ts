import { startService } from '../../src/service/index.ts';

/** Serves a store in a process of its own: argv is the options as JSON. Prints its URL; ends when its input does. */
const { clockAheadMs, ...options } = JSON.parse(process.argv[2] ?? '');
const now = clockAheadMs === undefined ? () => Date.UTC(2026, 2, 10, 12) : () => Date.now() + clockAheadMs;
const service = await startService({ ...options, clock: { now } });
process.stdout.write(`${service.url}\n`);
process.stdin.resume().once('end', () => void service.close());
