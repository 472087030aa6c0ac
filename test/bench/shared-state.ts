import { Governor } from '../../src/rate-limit/admission.ts';
import { openPostgres } from '../../src/state/postgres/open-postgres.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { type Options, type Report, table } from './support/report.ts';
import { clock } from './support/state.ts';

type Shared = Awaited<ReturnType<typeof openPostgres>>;

/**
 * What a shared state costs beside the request that it is for. All on one machine, so without a network between; on one, each way
 * there and back is added once.
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

/** Times in milliseconds, by what was measured. */
type Figure = readonly [string, readonly number[]];

/** A read that is waited for, beside how long a gate takes from its commit to the other process. */
async function measureNotices(one: Shared, other: Shared, rounds: number): Promise<readonly Figure[]> {
  const [reads, gates]: [number[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    const key = `key ${round}`;
    const at = clock.monotonic();
    await one.limits.fold(key, [{ type: 'start', boot: 'x', env: 'staging', at, wall: clock.now() }]);
    // Only who has admitted a request reads again when it is told of a change.
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

/** Resolves with the time when a condition holds, asked in each turn of the event loop. */
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
    lease: 30_000,
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
