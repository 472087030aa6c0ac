import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openExistingPostgres } from '../../src/state/postgres/open-postgres.ts';
import { openWire } from '../../src/state/postgres/wire.ts';
import type { State } from '../../src/state/state.ts';
import { statement } from '../../src/state/statements.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';
import { asking, stateAt } from './postgres-rig.ts';
import {
  collect,
  createStateClock,
  FakeProcesses,
  headOf,
  intentOf,
  readVersionOf,
  rowsFor,
  serviceName,
} from './rig.ts';

/** The first test also starts the server. */
vi.setConfig({ testTimeout: 60_000 });

/** Returns the URL of the same database for another role. */
const as = (url: string, role: string) => url.replace(/\/\/[^@/]*@/, `//${role}@`);

async function roleOf(url: string, name: string): Promise<string> {
  const role = `${name}_${Math.random().toString(36).slice(2, 8)}`;
  await runSql(url, `CREATE ROLE ${role} LOGIN`);
  onTestFinished(
    async () => void (await runSql(url, `DROP OWNED BY ${role} CASCADE`, `DROP ROLE ${role}`).catch(() => {})),
  );
  return role;
}

const intents = (...rows: readonly number[]) => rows.map((row) => intentOf({ row, petId: BigInt(row) }, 1000 + 30_000));

/** Records of a request in flight. */
const admission = [
  { type: 'start', boot: 'boot-1', env: 'staging', at: 1000, wall: 1000 },
  { type: 'intent', ids: ['a'], minPermits: 1, by: '', at: 1000, expires: 1e9, bulk: false },
] as const;

/** Admits a request, and records a run from beginning to end. */
async function work(state: State): Promise<void> {
  await state.limits.fold('key', admission);
  const lock = state.pets.lock(serviceName, 1n);
  expect(await lock.tryAcquire()).toBeUndefined();
  const readVersion = await readVersionOf(state);
  const log = await state.history.begin(headOf(), rowsFor(1n, 2n));
  expect(await log.intend(intents(1), readVersion, lock)).toEqual([{ kind: 'granted' }]);
  await log.settle([{ row: 1, petId: 1n, result: 'applied', quantity: 8 }]);
  expect(await log.intend(intents(2), readVersion)).toEqual([{ kind: 'granted' }]);
  await log.settle([{ row: 2, petId: 2n, result: 'applied', quantity: 8 }]);
  await log.end();
  await lock.release();
  expect(await state.petWrites.after({ serviceName, run: 'none' }, [{ row: 1, petId: 1n }])).toHaveLength(1);
  expect((await collect(state.history.settled())).map(({ row }) => row.result)).toEqual(['applied', 'applied']);
}

test('keeps working without closing a gate, whatever another role sends with NOTIFY', async () => {
  const url = await temporaryDatabase();
  const state = await stateAt(url);
  const client = new pg.Client({ connectionString: as(url, await roleOf(url, 'mallory')) });
  await client.connect();
  onTestFinished(() => client.end());
  await state.limits.fold('key', admission);
  const gate = { at: 9e12, wall: 9e12, length: 1e6, reason: 'refused' };
  const forged = JSON.stringify({ scope: 'key', version: 99, gate, halfOpen: true });
  for (const payload of ['x', 'null', '{}', '', '[1', forged]) {
    await client.query("SELECT pg_notify('petstock', $1)", [payload]);
  }
  // A notice is only a reason to read again, and the forged one changes nothing.
  await vi.waitFor(() => expect([...state.limits.peek('key').inFlight.keys()]).toEqual(['a']), { timeout: 20_000 });
  expect(state.limits.peek('key').gate.at).toBe(0);
  const flood = (async () => {
    for (let count = 0; count < 300; count += 1) await client.query("NOTIFY petstock, 'x'");
  })();
  await Promise.all([work(state), flood]);
});

test('does not use an operator, function or table that another role creates in public', async () => {
  const url = await temporaryDatabase();
  await runSql(url, 'GRANT ALL ON SCHEMA public TO PUBLIC');
  await runSql(
    as(url, await roleOf(url, 'mallory')),
    'CREATE TABLE public.caught (what text)',
    'GRANT ALL ON public.caught TO PUBLIC',
    ...[
      ['now', '', 'timestamptz'],
      ['clock_timestamp', '', 'timestamptz'],
      ['current_setting', 'text', 'text'],
      ['set_config', 'text, text, boolean', 'text'],
      ['pg_notify', 'text, text', 'text'],
      ['pg_backend_pid', '', 'integer'],
      ['length', 'text', 'integer'],
      ['substr', 'text, bigint', 'text'],
      ['max', 'bigint', 'bigint'],
    ].map(
      ([name, parameters, type]) =>
        `CREATE FUNCTION public.${name}(${parameters}) RETURNS ${type} LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO public.caught VALUES ('${name}'); RETURN NULL; END $$`,
    ),
    ...['=', '<>', '>', '<', '+', '-'].flatMap((operator, index) => [
      `CREATE FUNCTION public.caught_${index}(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO public.caught VALUES ('${operator}'); RETURN true; END $$`,
      `CREATE OPERATOR public.${operator} (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = public.caught_${index})`,
    ]),
    'CREATE TABLE public.runs (run text)',
    'CREATE TABLE public.sequence (last bigint)',
  );
  await runSql(
    url,
    `ALTER ROLE CURRENT_USER IN DATABASE "${new URL(url.replace('@/', '@host/')).pathname.slice(1)}" SET search_path = public, pg_catalog`,
  );
  const state = await stateAt(url);
  await work(state);
  expect(await state.check()).toEqual([]);
  await state.describe();
  expect(await runSql(url, 'SELECT what FROM public.caught')).toEqual([]);
});

test("tells a role without rights that it can't create the missing state", async () => {
  const url = await temporaryDatabase();
  const role = await roleOf(url, 'clerk');
  const processes = new FakeProcesses().view(1);
  const options = { clock: createStateClock(), processes, command: 'state check', random: Math.random };
  const looking = openExistingPostgres({ ...options, url: as(url, role) });
  await expect(looking).rejects.toMatchObject({ kind: 'failure', message: expect.stringContaining("can't create it") });
  expect(await openExistingPostgres({ ...options, url })).toBeUndefined();
});

test('does not leave session settings that a pooler could pass to another client', async () => {
  const url = await temporaryDatabase();
  const settings: string[] = [];
  let isOpen = false;
  const show = ['search_path', 'lock_timeout', 'statement_timeout'].map((name) => `current_setting('${name}')`);
  const state = await stateAt(url, 1, {}, async (server, onNotice) => {
    const wire = await openWire(server, onNotice);
    return asking(wire, async (statements, within) => {
      const answers = await wire.query(statements, within);
      const has = (words: RegExp) => statements.some(({ sql }) => words.test(sql));
      isOpen = (isOpen || has(/^BEGIN/)) && !has(/^(COMMIT|ROLLBACK)$/);
      if (!isOpen) {
        const shown = statement(`SELECT ${show.join(' || ')} AS now`);
        const [[row] = []] = await wire.query([shown], within).catch(() => [[]]);
        if (row !== undefined) settings.push(String(row.now));
      }
      return answers;
    });
  });
  await work(state);
  expect(new Set(settings)).toEqual(new Set(['"$user", public00']));
});

test('commits intents and gates synchronously even if the database turns synchronous_commit off', async () => {
  const url = await temporaryDatabase();
  await runSql(url, `ALTER DATABASE ${/test_\w+/.exec(url)?.[0]} SET synchronous_commit = off`);
  const settings: string[] = [];
  const state = await stateAt(url, 1, {}, async (server, onNotice) => {
    const wire = await openWire(server, onNotice);
    return asking(wire, async (statements, within) => {
      const end = statements.findIndex(({ sql }) => sql === 'COMMIT' || sql.includes('pg_logical_emit_message'));
      if (end < 0) return wire.query(statements, within);
      const shown = statement("SELECT current_setting('synchronous_commit') AS now");
      const answers = await wire.query(statements.toSpliced(end, 0, shown), within);
      settings.push(String(answers[end]?.[0]?.now));
      return answers.toSpliced(end, 1);
    });
  });
  settings.length = 0;
  const log = await state.history.begin(headOf(), rowsFor(1n, 2n));
  await log.intend(intents(1), undefined);
  log.settle([{ row: 1, petId: 1n, result: 'applied' }]);
  await log.end();
  expect(settings).toEqual(['on', 'on', 'on']);
  await state.pets.lock(serviceName, 9n).tryAcquire();
  expect(settings.at(-1)).toBe('off');
  const refused = { type: 'answer', id: 'a', at: 1001, wall: 1001, status: 429, retryAfter: 60_000 } as const;
  await state.limits.fold('key', [...admission, refused]);
  expect(settings.slice(-2)).toEqual(['off', 'on']);
});

test('refuses an intent if a pooler has switched the connection between transactions', async () => {
  const url = await temporaryDatabase();
  let backend = 100;
  const state = await stateAt(url, 1, {}, async (server, onNotice) => {
    const wire = await openWire(server, onNotice);
    return asking(wire, async (statements, within) => {
      const answers = await wire.query(statements, within);
      return answers.map((rows) => rows.map((row) => ('pid' in row ? { ...row, pid: backend } : row)));
    });
  });
  const log = await state.history.begin(headOf(), rowsFor(1n));
  backend += 1;
  await expect(log.intend(intents(1), undefined)).rejects.toMatchObject({
    kind: 'failure',
    message: expect.stringContaining('a pooler in transaction mode'),
  });
  // The state can be closed only on its own connection.
  backend -= 1;
});
