import { once } from 'node:events';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { generateKey, type ServiceOptions } from '../../../src/service/index.ts';
import { prepareServing } from '../../service/serving.ts';
import { type clientOf, outcome, startAt } from '../../service/support.ts';
import { runSql, temporaryDatabase, temporaryPostgres } from '../../support/postgres.ts';

/** By how many seconds the clocks of four machines are ahead. */
const SKEWS = [0, 6, -20, 0.4];

/** Starts four services on one database, each with its own clock. */
async function fourReplicas(options: Partial<ServiceOptions> = {}) {
  const shared = { database: await temporaryDatabase(), key: generateKey(), ...options };
  const replicas = await Promise.all(
    SKEWS.map((seconds) => startAt({ now: () => Date.now() + seconds * 1000 }, shared)),
  );
  const [first] = replicas;
  // Moves the clocks to the beginning of a minute, so that no minute ends in the middle of a test.
  if (first !== undefined) await first.advanceClock(60 - ((first.now() / 1000) % 60));
  return replicas;
}

type Asked = ReturnType<typeof clientOf>;

const ask = (replica: Asked) => replica.get('/store/orders');

/** Sends requests to all replicas in turn. @returns how often each outcome occurred */
async function askAll(replicas: readonly Asked[], times: number) {
  const asked = Array.from({ length: times }, () => replicas.map((replica) => ask(replica))).flat();
  const counts: Record<string, number> = {};
  const resets = new Set<unknown>();
  for (const answer of await Promise.all(asked)) {
    counts[outcome(answer)] = (counts[outcome(answer)] ?? 0) + 1;
    resets.add(answer.headers['x-ratelimit-reset']);
  }
  return { counts, resets };
}

test('admits exactly the limit in every window with four replicas, whatever their clocks say', async () => {
  const replicas = await fourReplicas({ limits: { minute: 80, day: 100_000 }, ban: false });
  const [one] = replicas;
  for (let window = 0; window < 4; window++) {
    await one?.advanceClock(60);
    const { counts, resets } = await askAll(replicas, 40);
    expect(counts).toEqual({ '200': 80, '429 rate_limited': 80 });
    expect(resets.size).toBe(1);
  }
});

test('counts strikes across all replicas, and bans the key on all of them', async () => {
  const replicas = await fourReplicas({ limits: { minute: 4, day: 100 }, ban: { strikes: 10, seconds: 300 } });
  await replicas[1]?.advanceClock(60);
  expect((await askAll(replicas, 2)).counts).toEqual({ '200': 4, '429 rate_limited': 4 });
  await replicas[2]?.advanceClock(2);
  expect((await askAll(replicas, 4)).counts).toEqual({ '429 rate_limited': 10, '429 key_banned': 6 });
  await replicas[3]?.advanceClock(299);
  expect((await askAll(replicas, 1)).counts).toEqual({ '429 key_banned': 4 });
  await replicas[0]?.advanceClock(2);
  expect((await askAll(replicas, 1)).counts).toEqual({ '200': 4 });
});

test('uses the database clock for Date, windows and Retry-After on each replica', async () => {
  const replicas = await fourReplicas({ limits: { minute: 1, day: 100 }, ban: false });
  await replicas[0]?.advanceClock(60);
  await askAll(replicas, 1);
  const answers = await Promise.all(replicas.map((replica) => ask(replica)));
  const dates = answers.map(({ headers }) => Date.parse(headers.date ?? ''));
  expect(Math.max(...dates) - Math.min(...dates)).toBeLessThanOrEqual(1_000);
  const ends = answers.map(({ headers }, at) => (dates[at] ?? 0) + Number(headers['retry-after']) * 1000);
  const reset = Number(answers[0]?.headers['x-ratelimit-reset']) * 1000;
  for (const end of ends) expect(Math.abs(end - reset)).toBeLessThanOrEqual(1_000);
});

test('admits exactly the limit with four processes that create the tables at the same time', async () => {
  const key = generateKey();
  const database = await temporaryDatabase();
  const options = { database, key, limits: { minute: 100_000, day: 150 }, ban: false } as const;
  const serve = await prepareServing();
  const processes = await Promise.all(SKEWS.map(() => serve(options)));
  const { counts } = await askAll(processes, 50);
  expect(counts['200']).toBe(150);
  const ended = processes.map(({ child }) => once(child, 'exit'));
  for (const { child } of processes) child.stdin.end();
  expect(await Promise.all(ended)).toEqual(Array(4).fill([0, null]));
});

/** Moves the clock that the replicas share to the beginning of the next day. */
function toNextDay(database: string) {
  const now = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + ahead';
  return runSql(database, `UPDATE petstock_service.service SET ahead = ahead + 86400000 - mod(${now}, 86400000)`);
}

const signals = ['SIGKILL', 'SIGSTOP'] as const;
test.each(signals)('admits exactly the limit even if a replica gets %s in the middle of a window', async (signal) => {
  const [database, key, limit] = [await temporaryDatabase(), generateKey(), 60];
  // A window lasts a day, longer than any test.
  const limits = { minute: limit, day: 1_000 };
  const options = { database, key, limits, windowSeconds: 86_400, ban: false } as const;
  const serve = await prepareServing();
  const processes = await Promise.all(SKEWS.map((seconds) => serve({ ...options, clockAheadMs: seconds * 1000 })));
  const struck = processes[1];
  for (let window = 0; window < 5; window++) {
    await toNextDay(database);
    let [count, ofOthers] = [0, 0];
    const askOne = async (replica: (typeof processes)[number]) => {
      const isStruck = replica === struck;
      const answered = await ask(replica).then(outcome, () => 'cut off');
      if (window === 2 && ++count === 20) struck?.child.kill(signal);
      // The stopped replica continues after 120 responses of the others.
      if (!isStruck && ++ofOthers === 120) struck?.child.kill('SIGCONT');
      return { answered, isStruck };
    };
    const asked = Array.from({ length: 40 }, () => processes.map(askOne)).flat();
    const outcomes = await Promise.all(asked);
    const admitted = outcomes.filter(({ answered }) => answered === '200').length;
    const lost = outcomes.filter(({ answered, isStruck }) => isStruck && !/^(200|429)/.test(answered)).length;
    const used = await runSql(database, 'SELECT minute_used::int AS used FROM petstock_service.keys');
    expect(used).toEqual([{ used: limit }]);
    expect(admitted).toBeLessThanOrEqual(limit);
    // The replica that got the signal may have admitted requests without responding.
    expect(admitted + (window === 2 ? lost : 0)).toBeGreaterThanOrEqual(limit);
  }
});

test('keeps confirmed changes if the database is killed, and answers 503 meanwhile', async () => {
  const server = await temporaryPostgres();
  const service = await startAt(Date, { database: server.url, windowSeconds: 86_400 });
  for (let quantity = 1; quantity <= 10; quantity++) {
    expect((await service.patch('/inventory/1', JSON.stringify({ quantity }))).status).toBe(200);
  }
  await server.kill();
  expect(outcome(await ask(service))).toMatch(/^503 (storage_unavailable|outcome_unknown)$/);
  expect((await ask(service)).headers['x-ratelimit-limit']).toBeDefined();
  await server.restart();
  const { status, text, headers } = await service.get('/inventory');
  expect(status).toBe(200);
  expect(text).toContain('{"petId":1,"quantity":10,');
  expect(Number(headers['x-ratelimit-remaining'])).toBeLessThanOrEqual(989);
});

test('keeps the quantity that a client sets while an administrator sets a status', async () => {
  const database = await temporaryDatabase();
  const service = await startAt(Date, { database, adminPort: 0 });
  const holder = new pg.Client({ connectionString: database });
  holder.on('error', () => {});
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('BEGIN; UPDATE petstock_service.pets SET quantity = 4711 WHERE id = 1');
  const answer = service.admin('PUT', '/inventory/1', { status: 'sold' });
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(() => runSql(database, waiting)).toHaveLength(1);
  await holder.query('COMMIT');
  expect((await answer).json).toEqual({ petId: 1, quantity: 4711, status: 'sold' });
  expect((await service.get('/inventory')).text).toContain('{"petId":1,"quantity":4711,"status":"sold"}');
});
