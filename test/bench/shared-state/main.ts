import { createGovernor } from '../../../src/rate-limit/admission.ts';
import { createSystemClock } from '../../../src/shared/system-clock.ts';
import { openPostgres } from '../../../src/state/postgres/open-postgres.ts';
import { startPostgres } from '../../support/postgres-server.ts';

/**
 * What a shared state costs beside the request that it is for: `npx tsx test/bench/shared-state/main.ts`. All on one machine, so
 * without a network between; on one, each way there and back is added once.
 */
const rounds = 300;
const clock = createSystemClock(process.hrtime.bigint);
const server = await startPostgres({ settings: ['fsync = on'] });
try {
  const open = (pid: number) => {
    const self = { host: `host-${pid}`, namespace: '', boot: `boot-${pid}`, pid, startedAt: '1' };
    const processes = { self, isGone: () => false, isStopped: () => false };
    return openPostgres({ url: server.url, clock, processes, command: 'bench', random: Math.random });
  };
  const [one, other] = [await open(1), await open(2)];
  const start = { type: 'start', boot: 'x', env: 'staging', at: 1, wall: 1 } as const;
  await one.limits.fold('key', [start]);
  await other.limits.look?.('key');
  const figures: Record<string, number[]> = {};
  const timed = async (name: string, work: () => Promise<unknown>) => {
    const began = clock.monotonic();
    await work();
    figures[name] = [...(figures[name] ?? []), clock.monotonic() - began];
  };
  for (let round = 0; round < rounds; round += 1) {
    await timed('one awaited read', async () => other.limits.look?.('key'));
    const at = clock.monotonic();
    const refusal = { type: 'answer', id: 'x', at, wall: at, status: 429, retryAfter: 1000 + round } as const;
    let folded = 0;
    const seen = untilSeen(at);
    await one.limits.fold('key', [refusal]).then(() => {
      folded = clock.monotonic();
    });
    await seen;
    figures['gate: from its commit to the other process'] ??= [];
    figures['gate: from its commit to the other process']?.push(Math.max(0, clock.monotonic() - folded));
  }
  function untilSeen(before: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => (other.limits.peek('key').gate.at > before + 900 ? resolve() : void setImmediate(look));
      look();
    });
  }
  await one.limits.clear('key');
  const governor = createGovernor({
    ...{ clock, store: one.limits, scope: 'free', env: 'staging', maxWait: 1000, lease: 30_000 },
    self: { host: 'a', namespace: '', boot: 'b', pid: 1, startedAt: '1' },
    random: Math.random,
    onWait: () => {},
  });
  const headers = {
    'x-ratelimit-limit': '1000000',
    'x-ratelimit-remaining': '999999',
    'x-ratelimit-reset': `${Math.ceil(Date.now() / 1000) + 50}`,
  };
  for (let round = 0; round < rounds; round += 1) {
    let permit: Awaited<ReturnType<typeof governor.admit>> | undefined;
    await timed('admission, with the answer before it', async () => {
      permit = await governor.admit(new AbortController().signal);
    });
    void permit?.answered({ status: 200, headers });
  }
  await one.close();
  await other.close();
  for (const [name, times] of Object.entries(figures)) {
    const sorted = times.toSorted((a, b) => a - b);
    const shown = [0.5, 0.9, 0.99].map((part) => `${sorted[Math.floor(part * (sorted.length - 1))]?.toFixed(2)}`);
    process.stdout.write(`${name}: ${shown.join(', ')} ms (median, 90 %, 99 %)\n`);
  }
} finally {
  await server.stop();
}
