import { Governor } from '../../src/rate-limit/governor.ts';
import { openPostgres } from '../../src/state/postgres/open-postgres.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { type Options, type Report, table } from './support/report.ts';
import { clock } from './support/state.ts';

type Shared = Awaited<ReturnType<typeof openPostgres>>;

/**
 * Measures how much time a shared state adds to a request. The database and its clients are on one machine; over a
 * network, each figure grows by one round trip.
 */
export async function run({ rounds = 300 }: Options): Promise<Report> {
  const server = await startPostgres({ settings: ['fsync = on'], within: '/tmp' });
  const open = (pid: number) => {
    const self = { host: `host-${pid}`, namespace: '', boot: `boot-${pid}`, pid, startedAt: '1' };
    const processes = { self, isGone: () => false, isStopped: () => false };
    return openPostgres({ url: server.url, clock, processes, command: 'bench', random: Math.random });
  };
  try {
    const [one, other] = [await open(1), await open(2)];
    const figures = [...(await measureNotices(one, other, rounds)), await measureAdmissions(one, rounds)];
    await one.close();
    await other.close();
    return { text: table([['ms', 'median', '90 %', '99 %'], ...figures.map(percentiles)]), goals: [] };
  } finally {
    await server.stop();
  }
}

/** The name of a measurement, and its times in milliseconds. */
type Figure = readonly [string, readonly number[]];

/** Measures an awaited read, and how long after its commit the other process sees a gate. */
async function measureNotices(one: Shared, other: Shared, rounds: number): Promise<readonly Figure[]> {
  const [reads, gates]: [number[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    const key = `key ${round}`;
    const at = clock.monotonic();
    await one.limits.fold(key, [{ type: 'start', boot: 'x', env: 'staging', at, wall: clock.now() }]);
    // Only a process that has admitted a request reads again when it is notified of a change.
    const [id, expires] = [`request ${round}`, at + 30_000];
    await other.limits.fold(key, [{ type: 'intent', ids: [id], minPermits: 1, by: 'other', at, expires, bulk: false }]);
    const asked = clock.monotonic();
    await other.limits.read?.(key);
    reads.push(clock.monotonic() - asked);
    const seen = untilSeen(() => other.limits.peek(key).gate.at > at);
    await one.limits.fold(key, [{ type: 'answer', id: 'x', at, wall: clock.now(), status: 429, retryAfter: 60_000 }]);
    const folded = clock.monotonic();
    gates.push(Math.max(0, (await seen) - folded));
    await other.limits.fold(key, [{ type: 'unsent', id }]);
  }
  const figures = { 'one awaited read': reads, 'gate: from its commit to the other process': gates };
  return Object.entries(figures);
}

/** Resolves with the time as soon as `isSeen` returns true. It is called in each turn of the event loop. */
async function untilSeen(isSeen: () => boolean): Promise<number> {
  while (!isSeen()) await new Promise(setImmediate);
  return clock.monotonic();
}

async function measureAdmissions(one: Shared, rounds: number): Promise<Figure> {
  const governor = new Governor({
    clock,
    limits: one.limits,
    scope: 'free',
    env: 'staging',
    maxWait: 1000,
    permitLifetime: 30_000,
    self: { host: 'a', namespace: '', boot: 'b', pid: 1, startedAt: '1' },
    random: Math.random,
    onWait: () => {},
  });
  const reset = `${Math.ceil(Date.now() / 1000) + 50}`;
  const counts = { 'x-ratelimit-limit': '1000000', 'x-ratelimit-remaining': '999999', 'x-ratelimit-reset': reset };
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const at = clock.monotonic();
    const permit = await governor.admit(new AbortController().signal);
    times.push(clock.monotonic() - at);
    permit.recordResponse({ status: 200, headers: counts });
  }
  return ['admission, with the answer before it', times];
}

function percentiles([name, times]: Figure): string[] {
  const sorted = times.toSorted((a, b) => a - b);
  return [name, ...[0.5, 0.9, 0.99].map((part) => `${sorted[Math.floor(part * (sorted.length - 1))]?.toFixed(2)}`)];
}
