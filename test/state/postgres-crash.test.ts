import pg from 'pg';
import { expect, test, vi } from 'vitest';
import type { Outcome } from '../../src/state/intents-and-outcomes.ts';
import { NotOnStandbyError, type OpenWire, openWire, type Wire } from '../../src/state/postgres/wire.ts';
import type { RunLog } from '../../src/state/run-log.ts';
import type { State } from '../../src/state/state.ts';
import { newFolder } from '../support/new-folder.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';
import { until } from '../support/scripted-service.ts';
import { asking, stateAt } from './postgres-rig.ts';
import { collect, createStateClock, headOf, intentOf, readVersionOf, rowsFor, serviceName } from './rig.ts';

/** The first test also starts the server. */
vi.setConfig({ testTimeout: 60_000 });

async function machineAt(url: string, pid = 1) {
  let lost: { readonly text: string; readonly error?: Error; readonly meanwhile?: () => Promise<unknown> } | undefined;
  let breaking: string | undefined;
  let wire: Wire | undefined;
  let notice = (): void => {};
  const losing: OpenWire = async (server, onNotice) => {
    notice = onNotice;
    const opened = await openWire(server, onNotice);
    wire = asking(opened, async (statements, within) => {
      const has = (text: string | undefined) => text !== undefined && statements.some(({ sql }) => sql.includes(text));
      if (has(breaking)) {
        breaking = undefined;
        opened.destroy();
        throw new Error('write EPIPE');
      }
      const rows = await opened.query(statements, within);
      const { text, error, meanwhile } = lost ?? {};
      if (!has(text)) return rows;
      lost = undefined;
      await meanwhile?.();
      if (error === undefined) opened.destroy();
      throw error ?? new Error('read ECONNRESET');
    });
    return wire;
  };
  const clock = createStateClock();
  const state = await stateAt(url, pid, { clock, random: () => pid / 10 }, losing);
  return {
    state,
    clock,
    /** Breaks the connection after the next statement with this text has run, and `meanwhile` too. */
    loseAnswerOf: (text: string, meanwhile?: () => Promise<unknown>) => {
      lost = { text, ...(meanwhile && { meanwhile }) };
    },
    /** Runs the next statement with this text, but reports that the standby doesn't have it. */
    failOf: (text: string) => {
      lost = { text, error: new NotOnStandbyError({ shown: 'postgresql://pets' }) };
    },
    /** Breaks the connection before the next statement with this text. */
    breakBefore: (text: string) => {
      breaking = text;
    },
    disconnect: () => wire?.destroy(),
    /** Delivers a NOTIFY. */
    notice: () => notice(),
  };
}
type Machine = Awaited<ReturnType<typeof machineAt>>;

const intents = (...rows: readonly number[]) => rows.map((row) => intentOf({ row, petId: BigInt(row) }, 1000 + 30_000));
const outcomeOf = (row: number, result: Outcome['result'] = 'applied'): Outcome => ({
  row,
  petId: BigInt(row),
  result,
});
const start = { type: 'start', boot: 'boot-1', env: 'staging', at: 1, wall: 1_000_000 } as const;
const refused = { type: 'answer', id: 'a', at: 3, wall: 1_000_003, status: 429, retryAfter: 60_000 } as const;
const granted = [{ kind: 'granted' }];
const intended = 'INSERT INTO petstock.leases';

function begin({ state }: Machine, count: number): Promise<RunLog> {
  const pets = Array.from({ length: count }, (_, index) => BigInt(index + 1));
  return state.history.begin(headOf(), rowsFor(...pets));
}

/** Begins a run of one pet, writes it, and ends the run. */
async function written(machine: Machine): Promise<RunLog> {
  const log = await begin(machine, 1);
  expect(await log.intend(intents(1), undefined)).toEqual(granted);
  await log.settle([outcomeOf(1)]);
  await log.end();
  return log;
}

const isClosed = async ({ state }: Machine) => ((await state.limits.read?.('key'))?.gate.at ?? 0) > 0;

/** A test with a database and two machines that use it. */
const it = test
  .extend('url', () => temporaryDatabase())
  .extend('machine', ({ url }) => machineAt(url))
  .extend('other', ({ url }) => machineAt(url, 2));

const recorded = async (url: string) => {
  const rows = await runSql(url, 'SELECT result FROM petstock.rows ORDER BY row');
  return rows.map(({ result }) => result);
};

it('begins a run only once, with its first intent, even if the reply to both is lost', async ({ url, machine }) => {
  const log = await machine.state.history.beginLater(headOf(), rowsFor(1n));
  expect(log.hasBegun).toBe(false);
  // Gives the run the id of an earlier second, as if its begin was repeated later.
  machine.loseAnswerOf(intended, () => runSql(url, "UPDATE petstock.runs SET run = '20260115T120019Z-aaaa'"));
  expect(await log.intend(intents(1), undefined)).toEqual(granted);
  await log.settle([outcomeOf(1)]);
  await log.end();
  const runs = await collect(machine.state.history.runs());
  expect(runs).toMatchObject([{ run: log.run, changes: 1, counts: { applied: 1, unknown: 0, pending: 0 } }]);
  expect(await machine.state.check()).toEqual([]);
});

it('counts a run as begun even if the reply was lost and another run of its file has begun', async ({
  machine,
  other,
}) => {
  const head = headOf({ contentHash: 'abc' });
  const newest = async () => (await other.state.history.runsOfFile(head.serviceName, 'abc'))[0]?.run;
  const beginOther = () => other.state.history.begin(head, rowsFor(1n), newest);
  machine.loseAnswerOf('UPDATE petstock.runs SET changes', beginOther);
  const asked: (string | undefined)[] = [];
  const log = await machine.state.history.begin(head, rowsFor(1n), async () => {
    asked.push(await newest());
    return asked.at(-1);
  });
  expect(asked).toEqual([undefined]);
  const runs = await collect(machine.state.history.runs());
  expect(runs.map(({ run }) => run)).toEqual([expect.any(String), log.run]);
});

it('ends the transaction of a suspended client before other clients give up waiting', async ({ machine, other }) => {
  const log = await begin(machine, 1);
  let theirs: RunLog | undefined;
  machine.loseAnswerOf('FOR UPDATE', async () => {
    theirs = await begin(other, 1);
  });
  expect(await log.intend(intents(1), undefined)).toEqual(granted);
  expect(theirs?.hasBegun).toBe(true);
});

it("removes a process's presence with its last run even if the connection breaks first", async ({ url, machine }) => {
  const log = await begin(machine, 1);
  machine.breakBefore('DELETE FROM petstock.presence');
  await log.end();
  expect(await runSql(url, 'SELECT id FROM petstock.presence')).toEqual([]);
});

it('does not report lost writes after a failed intent', async ({ url, machine }) => {
  const log = await begin(machine, 1);
  await log.intend(intents(1), undefined);
  await log.settle([outcomeOf(1, 'void')]);
  machine.failOf(intended);
  await expect(log.intend(intents(1), undefined)).rejects.toThrow('on its primary server only');
  await log.settle([outcomeOf(1, 'failed')]);
  await log.end();
  expect(await recorded(url)).toEqual(['failed']);
});

it('stores limits again once the database no longer refuses them', async ({ url, machine: { state } }) => {
  await state.limits.fold('key', [start]);
  await runSql(url, 'ALTER TABLE petstock.limits ADD CONSTRAINT closed CHECK (false) NOT VALID');
  await expect(state.limits.fold('key', [start])).rejects.toMatchObject({ kind: 'failure' });
  await runSql(url, 'ALTER TABLE petstock.limits DROP CONSTRAINT closed');
  expect(await state.limits.fold('key', [start])).toMatchObject({ env: 'staging' });
});

it('notices that a failover lost a write even if the last intent had failed', async ({ url, machine }) => {
  const log = await begin(machine, 2);
  await log.intend(intents(1), undefined);
  await log.settle([outcomeOf(1)]);
  await log.flush();
  machine.failOf(intended);
  await expect(log.intend(intents(2), undefined)).rejects.toThrow('on its primary server only');
  await runSql(url, "UPDATE petstock.rows SET result = 'pending', token = NULL");
  await expect(log.end()).rejects.toThrow('has lost confirmed writes');
});

it('holds requests back after 2 s without a reply, and after a NOTIFY until limits are read again', async ({
  machine,
}) => {
  const { state, clock, notice } = machine;
  const sent = { type: 'intent', ids: ['a'], minPermits: 1, by: '', at: 2, expires: 1e9, bulk: false } as const;
  await state.limits.fold('key', [start, sent]);
  const mayLeave = () => state.limits.peek('key').inFlight.has('a');
  expect(mayLeave()).toBe(true);
  clock.stop(2001);
  expect(mayLeave()).toBe(false);
  await state.limits.read?.('key');
  expect(mayLeave()).toBe(true);
  notice();
  expect(mayLeave()).toBe(false);
  await vi.waitFor(() => expect(mayLeave()).toBe(true));
});

it('writes a gate again if a crash loses it before it is on disk', async ({ url, machine: one, other }) => {
  await one.state.limits.fold('key', [start]);
  let hasCrashed = false;
  one.loseAnswerOf('pg_logical_emit_message', async () => {
    hasCrashed = true;
    await runSql(url, 'TRUNCATE petstock.epoch', 'TRUNCATE petstock.limits');
  });
  expect((await one.state.limits.fold('key', [refused])).gate.at).toBeGreaterThan(0);
  expect(hasCrashed).toBe(true);
  expect(await isClosed(other)).toBe(true);
});

it('keeps the second intent of an unsent row even if the reply to it is lost', async ({ url, machine }) => {
  const log = await begin(machine, 1);
  await log.intend(intents(1), undefined);
  await log.settle([outcomeOf(1, 'void')]);
  machine.loseAnswerOf(intended);
  expect(await log.intend(intents(1), undefined)).toEqual(granted);
  expect(await recorded(url)).toEqual(['unknown']);
  expect(await runSql(url, 'SELECT pet_id::integer AS pet FROM petstock.leases')).toEqual([{ pet: 1 }]);
});

it('does not write an outcome again over a later intent of its row', async ({ url, machine }) => {
  const log = await begin(machine, 1);
  await log.intend(intents(1), undefined);
  log.settle([outcomeOf(1, 'void')]);
  machine.clock.advance(1000);
  await until(async () => expect(await recorded(url)).toEqual(['pending']));
  machine.breakBefore(intended);
  expect(await log.intend(intents(1), undefined)).toEqual(granted);
  await log.flush();
  expect(await recorded(url)).toEqual(['unknown']);
});

const parts = ['BEGIN', 'INSERT INTO petstock.runs', 'COMMIT'];
it.for(parts)('begins a run only once even if the connection breaks after %s', async (statement, { machine }) => {
  machine.loseAnswerOf(statement);
  await (await begin(machine, 3)).end();
  expect(await machine.state.describe()).toMatchObject({ runs: 1, rows: 3 });
  expect(await machine.state.check()).toEqual([]);
});

it('fails to begin a run that only the primary server has', async ({ machine }) => {
  machine.failOf('COMMIT');
  await expect(begin(machine, 1)).rejects.toThrow('on its primary server only');
});

it('writes outcomes again if a crash has lost them', async ({ url, machine }) => {
  const log = await begin(machine, 3);
  await log.intend(intents(1, 2), undefined);
  await log.settle([outcomeOf(1)]);
  // So many outcomes are written before the next intent. The run has no such rows.
  await log.settle(Array.from({ length: 1200 }, (_, index) => outcomeOf(101 + index)));
  await vi.waitFor(async () => expect((await recorded(url))[0]).toBe('applied'), { timeout: 20_000 });
  // Simulates a crash that lost an outcome, because its commit did not wait for the disk.
  await runSql(
    url,
    "UPDATE petstock.rows SET result = 'unknown' WHERE row = 1",
    'UPDATE petstock.runs SET unknown = unknown + 1, applied = applied - 1',
  );
  machine.disconnect();
  await log.settle([outcomeOf(2)]);
  await log.intend(intents(3), undefined);
  await log.settle([outcomeOf(3)]);
  await log.end();
  expect(await recorded(url)).toEqual(['applied', 'applied', 'applied']);
  expect(await machine.state.check()).toEqual([]);
});

it('notices that a confirmed intent is missing', async ({ url, machine }) => {
  const log = await begin(machine, 3);
  await log.intend(intents(1, 2), undefined);
  await runSql(url, "UPDATE petstock.rows SET result = 'pending', token = NULL");
  await expect(log.intend(intents(3), undefined)).rejects.toThrow('has lost confirmed writes');
  await log.settle([outcomeOf(1)]);
  await log.end();
  expect(await recorded(url)).toEqual(['applied', 'pending', 'pending']);
});

it('supersedes a row by a write after a crash that reset the sequence', async ({ url, machine: one, other }) => {
  const earlier = await begin(other, 3);
  await earlier.intend(intents(2, 3), undefined);
  await earlier.end();
  const readVersion = await readVersionOf(one.state);
  // Simulates a crash: unlogged tables are empty, and a sequence may have gone back.
  await runSql(url, 'TRUNCATE petstock.epoch', `UPDATE petstock.sequence SET last = ${readVersion.sequence - 4}`);
  for (const machine of [one, other]) machine.disconnect();
  const theirs = await written(other);
  const ours = await begin(one, 1);
  expect(await ours.intend(intents(1), readVersion)).toMatchObject([{ kind: 'superseded', run: theirs.run }]);
});

it('keeps a gate whose version number was already used before a crash', async ({ url, machine: one, other }) => {
  await one.state.limits.fold('key', [start]);
  await one.state.limits.fold('key', [start]);
  // A crash loses the second change, so the other machine's next change gets the same version.
  await runSql(url, 'TRUNCATE petstock.epoch', 'UPDATE petstock.limits SET version = version - 1');
  for (const machine of [one, other]) machine.disconnect();
  await other.state.limits.fold('key', [refused]);
  await one.state.limits.fold('key', [start]);
  expect(await isClosed(other)).toBe(true);
});

it('refuses an intent if the database is a copy older than its read version', async ({ url, machine: one, other }) => {
  await runSql(url, 'UPDATE petstock.sequence SET last = last + 20');
  const readVersion = await readVersionOf(one.state);
  await runSql(url, `UPDATE petstock.sequence SET last = ${readVersion.sequence - 10}`);
  await written(other);
  const ours = await begin(one, 1);
  await expect(ours.intend(intents(1), readVersion)).rejects.toThrow('has lost confirmed writes');
  await ours.end();
});

it('does not export a row before every row with a lower number is committed', async ({ url, machine, other }) => {
  const sending = async ({ state }: Machine, petId: bigint) => {
    const log = await state.history.begin(headOf(), rowsFor(petId));
    await log.intend([intentOf({ row: 1, petId }, 31_000)], undefined);
    return log;
  };
  const logs = [await sending(machine, 1n), await sending(other, 2n)] as const;
  const reader = await machineAt(url, 3);
  const settled = async (after: number) => {
    const rows = await collect(reader.state.history.settled({ after }));
    return rows.map(({ row: { petId, touched } }) => ({ petId, seq: touched }));
  };
  const waiting = async (count: number) => {
    const [found] = await runSql(url, 'SELECT count(*)::integer AS count FROM pg_locks WHERE NOT granted');
    expect(found).toEqual({ count });
  };
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT 1 FROM petstock.rows WHERE pet_id = 1 FOR UPDATE');
  const settle = async (log: RunLog, petId: bigint) => {
    await log.settle([{ ...outcomeOf(1), petId }]);
    await log.flush();
  };
  const first = settle(logs[0], 1n);
  await until(() => waiting(1));
  const second = settle(logs[1], 2n);
  await until(() => waiting(2));
  expect(await settled(0)).toEqual([]);
  await holder.query('COMMIT');
  await holder.end();
  await Promise.all([first, second]);
  const rows = await settled(0);
  expect(rows.map(({ petId }) => petId)).toEqual([1n, 2n]);
  expect(await settled(rows[0]?.seq ?? 0)).toEqual(rows.slice(1));
});

/** Opens a run of two pets in a database that can be `away`. Ctrl-C ends a wait for it at `interruptedAt`. */
async function openOutage(url: string, interruptedAt: number) {
  const clock = createStateClock();
  const began = clock.monotonic();
  const database = { isAway: false };
  let wire: Wire | undefined;
  const open: OpenWire = async (server, onNotice) => {
    if (database.isAway) throw new Error('connect ECONNREFUSED');
    wire = await openWire(server, onNotice);
    return wire;
  };
  const interruption = new AbortController();
  const waited = () => clock.monotonic() - began;
  const sleep = async (ms: number) => {
    clock.advance(ms);
    if (waited() >= interruptedAt) interruption.abort(new Error('Ctrl-C'));
  };
  const options = { clock: { ...clock, sleep }, outageTimeout: 60_000, interrupted: interruption.signal };
  const state = await stateAt(url, 1, { ...options, random: () => 0 }, open);
  const log = await state.history.begin(headOf(), rowsFor(1n, 2n));
  await log.intend(intents(1), undefined);
  database.isAway = true;
  wire?.destroy();
  return { state, log, database, waited };
}

it.for([
  ['up to the time-out, and not again when the run ends', Number.POSITIVE_INFINITY, 60_000, 70_000, "can't be reached"],
  ['only until Ctrl-C', 20_000, 20_000, 30_000, 'Ctrl-C'],
] as const)('waits for an unreachable database %s', async ([_what, interruptedAt, least, most, words], { url }) => {
  const { log, waited } = await openOutage(url, interruptedAt);
  await expect(log.intend(intents(2), undefined)).rejects.toThrow(words);
  expect(waited()).toBeGreaterThanOrEqual(least);
  await expect(log.end()).rejects.toThrow("can't be reached");
  expect(waited()).toBeLessThan(most);
});

it('writes outcomes after Ctrl-C if the database is back by then', async ({ url }) => {
  const { state, log, database } = await openOutage(url, 8000);
  await expect(log.intend(intents(2), undefined)).rejects.toThrow('Ctrl-C');
  database.isAway = false;
  log.settle([outcomeOf(1)]);
  await log.end();
  expect(await state.history.run(log.run)).toMatchObject({ counts: { applied: 1, pending: 1 } });
});

it('does not mistake the state for an older copy while another process writes to another service', async ({ url }) => {
  const folder = newFolder();
  const warnings: string[] = [];
  const other = await stateAt(url, 1, { folder });
  let others = 0;
  const meanwhile: OpenWire = async (server, onNotice) => {
    const wire = await openWire(server, onNotice);
    return asking(wire, async (statements, within) => {
      const answers = await wire.query(statements, within);
      // Commits another transaction between what this one reads and what it decides.
      if (statements.some(({ sql }) => sql.includes('last, raised'))) {
        others += 1;
        await writeOne(other, 'https://other.example/v1');
      }
      return answers;
    });
  };
  const state = await stateAt(url, 2, { folder, warn: (line) => warnings.push(line) }, meanwhile);
  await writeOne(state, serviceName);
  expect(others).toBeGreaterThan(1);
  expect(warnings).toEqual([]);
});

async function writeOne({ history }: State, service: string): Promise<void> {
  const log = await history.begin(headOf({ serviceName: service }), rowsFor(1n));
  await log.intend(intents(1), undefined);
  log.settle([outcomeOf(1)]);
  await log.end();
}
