import { startService } from '../../src/service/index.ts';

/** Serves a store with the options in argv (JSON). Prints its URL, and ends when its stdin ends. */
const { clockAheadMs, ...options } = JSON.parse(process.argv[2] ?? '');
const now = clockAheadMs === undefined ? () => Date.UTC(2026, 2, 10, 12) : () => Date.now() + clockAheadMs;
const service = await startService({ ...options, clock: { now } });
process.stdout.write(`${service.url}\n`);
process.stdin.resume().once('end', () => void service.close());
