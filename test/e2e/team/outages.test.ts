import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { petstockAt, within } from '../../support/petstock.ts';
import { runSql, temporaryPostgres } from '../../support/postgres.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { type Served, serve, startProgram, temporaryHome } from '../../support/program.ts';
import type { RunRecordJson } from './json.ts';

/** `PETSTOCK_RUNS=100` for the whole matrix. */
const instants = Number(process.env.PETSTOCK_RUNS ?? 2);
const rows = 120;
const noLimit = ['--limit-minute', '10000000', '--limit-day', '100000000'];
/** So that a run is not over before what is to happen to it. */
const unhurried = ['--pets', `${rows}`, '--fault', 'PATCH /inventory/*:delay=8', ...noLimit];
/** Short, since a resume waits until no request of the killed process can be on its way any more. */
const timeout = ['--timeout', '1'];
const moments = Array.from({ length: instants }, (_, index) => Math.round(((index + 0.5) * rows) / instants));

interface Setting {
  readonly served: Served;
  readonly server: PostgresServer;
  /** The program on a machine that has nothing of another one but the address of the database. */
  machine(): ReturnType<typeof petstockAt>;
  stock(): Promise<ReadonlyMap<string, number>>;
  /** Adds 1 to each pet. */
  readonly apply: readonly string[];
}

async function setting(): Promise<Setting> {
  const [served, server] = await Promise.all([serve(unhurried), temporaryPostgres({ settings: ['fsync = on'] })]);
  const env = { ...served.env, PETSTOCK_STATE_URL: server.url };
  const machine = () => petstockAt({ env });
  const alone = petstockAt(served);
  const stock = async () => {
    const { stdout } = await alone.run('inventory list -o csv --no-header -q');
    return new Map(
      stdout
        .trim()
        .split('\n')
        .map((line) => [line.split(',')[0] ?? '', Number(line.split(',')[1])]),
    );
  };
  const file = join(temporaryHome().folder, 'deltas.csv');
  writeFileSync(file, `petId,delta\n${[...(await stock()).keys()].map((petId) => `${petId},+1`).join('\n')}\n`);
  const apply = ['inventory', 'apply', file, '--yes', '--concurrency', '4', ...timeout];
  // Nobody waits for the tables in what follows.
  await machine().run('state info');
  return { served, server, machine, stock, apply };
}

const answered = async ({ journal }: Served) =>
  (await journal()).filter(({ method, status }) => method === 'PATCH' && status === 200).length;

const untilAnswered = (served: Served, count: number) =>
  vi.waitFor(async () => expect(await answered(served)).toBeGreaterThanOrEqual(count), {
    timeout: 30_000,
    interval: 5,
  });

/** Resumed from another machine, each pet has got its 1, once. */
async function expectResumed({ machine, stock, served }: Setting, before: ReadonlyMap<string, number>): Promise<void> {
  const other = machine();
  const runs = JSON.parse((await other.run('history list --json')).stdout) as RunRecordJson[];
  const [run] = runs;
  expect(runs).toHaveLength(1);
  if (run?.state !== 'done') {
    const resume = ['inventory', 'apply', '--resume', `${run?.run}`, '--yes', ...timeout];
    // A process of another machine is taken for gone when its lease is over.
    await vi.waitFor(async () => expect(await other.run(resume)).toMatchObject({ code: 0 }), {
      timeout: 40_000,
      interval: 1000,
    });
  }
  const wanted = new Map([...before].map(([petId, quantity]) => [petId, quantity + 1]));
  expect(await stock()).toEqual(wanted);
  // Each was sent with the stock that was wanted, and never with another one.
  // A request that was cut off by the kill of its machine has no body.
  const whole = (await served.journal()).filter(({ method, body }) => method === 'PATCH' && body !== null);
  for (const { path, body } of whole) {
    expect(JSON.parse(body ?? '{}').quantity).toBe(wanted.get(path.replace(/.*\//, '')));
  }
  expect(await other.run('state check')).toMatchObject({ code: 0 });
}

test.each(moments)(
  'kill -9 of PostgreSQL once %i rows are answered: nothing is lost or doubled, and another machine goes on',
  async (count) => {
    const given = await setting();
    const before = await given.stock();
    const program = startProgram(given.apply, { env: { ...given.served.env, PETSTOCK_STATE_URL: given.server.url } });
    await untilAnswered(given.served, count);
    await given.server.kill();
    const { code, stderr } = await program.result;
    expect([5, 8]).toContain(code);
    expect(stderr).toMatch(/Hint: petstock inventory apply --resume \S+ --env staging/);
    const sent = (await given.served.journal()).filter(({ method }) => method === 'PATCH');
    await given.server.restart();
    // What was sent has its intent on the disk of the database.
    const recorded = await runSql(
      given.server.url,
      "SELECT pet_id::text AS pet FROM petstock.rows WHERE result <> 'pending'",
    );
    const pets = new Set(recorded.map(({ pet }) => pet));
    expect(sent.filter(({ path }) => !pets.has(path.replace(/.*\//, '')))).toEqual([]);
    await expectResumed(given, before);
  },
  120_000,
);

test('a PostgreSQL that comes back at once, as after a failover, is waited for', async () => {
  const given = await setting();
  const before = await given.stock();
  const program = startProgram(given.apply, { env: { ...given.served.env, PETSTOCK_STATE_URL: given.server.url } });
  await untilAnswered(given.served, rows / 2);
  await given.server.kill();
  await given.server.restart();
  expect(await program.result).toMatchObject({ code: 0 });
  await expectResumed(given, before);
}, 120_000);

test('a PostgreSQL that hangs: what is in flight ends, nothing more is sent, and another machine goes on', async () => {
  const given = await setting();
  const before = await given.stock();
  const program = startProgram(given.apply, { env: { ...given.served.env, PETSTOCK_STATE_URL: given.server.url } });
  await untilAnswered(given.served, rows / 2);
  given.server.freeze();
  const { code, stderr } = await program.result;
  expect([5, 8]).toContain(code);
  expect(stderr).toContain('does not answer');
  expect(stderr).toMatch(/Hint: petstock inventory apply --resume \S+ --env staging/);
  expect((await given.served.journal()).filter(({ status }) => status === null)).toEqual([]);
  given.server.thaw();
  await expectResumed(given, before);
}, 120_000);

test('a PostgreSQL that is slow: after its time-out nothing more is sent, and another machine goes on', async () => {
  const given = await setting();
  const before = await given.stock();
  const program = startProgram(given.apply, { env: { ...given.served.env, PETSTOCK_STATE_URL: given.server.url } });
  await untilAnswered(given.served, rows / 2);
  const holder = new pg.Client({ connectionString: given.server.url });
  onTestFinished(() => holder.end());
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE petstock.services IN ACCESS EXCLUSIVE MODE');
  const { code, stderr } = await within(60_000, 'the end of a run whose database is slow', program.result);
  expect([5, 8]).toContain(code);
  expect(stderr).toContain('is too busy');
  expect(stderr).toMatch(/Hint: petstock inventory apply --resume \S+ --env staging/);
  await holder.query('ROLLBACK');
  await expectResumed(given, before);
}, 120_000);

test.each(moments)(
  'kill -9 of a machine once %i rows are answered: another one goes on',
  async (count) => {
    const given = await setting();
    const before = await given.stock();
    const program = startProgram(given.apply, { env: { ...given.served.env, PETSTOCK_STATE_URL: given.server.url } });
    await untilAnswered(given.served, count);
    program.kill('SIGKILL');
    await program.result;
    await expectResumed(given, before);
  },
  120_000,
);
