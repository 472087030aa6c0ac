import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished } from 'vitest';
import type { LimitRecord } from '../../src/rate-limit/limit-records.ts';
import { hasOwnEngine } from '../../src/shared/sqlite-engine.ts';
import { type OpenStateOptions, openExistingState, openState } from '../../src/state/open-state.ts';
import type { RunLog } from '../../src/state/run-log.ts';
import { type Engine, loadEngine } from '../../src/state/sqlite/engine.ts';
import type { StateSystem } from '../../src/state/sqlite/open-file.ts';
import type { State } from '../../src/state/state.ts';
import { bundled } from '../support/bundled.ts';
import { test as it, newFolder } from '../support/new-folder.ts';
import { stateSql } from '../support/state-sql.ts';
import { createStateClock, FakeProcesses, headOf, intentOf, readVersionOf, rowsFor, serviceName } from './rig.ts';

function opening(folder: string, fields: Partial<OpenStateOptions> = {}, pid = 1) {
  const [clock, processes, warnings] = [createStateClock(), new FakeProcesses(), [] as string[]];
  const always = { need: 'history', random: Math.random, command: 'test', processes: processes.view(pid) } as const;
  const options: OpenStateOptions = { ...always, folder, clock, warn: (line) => void warnings.push(line), ...fields };
  return { options, clock, processes, warnings };
}

async function opened(options: OpenStateOptions, system?: Partial<StateSystem>): Promise<State> {
  const real = { loadEngine, syncFolder: async () => {}, isOnNetwork: async () => false };
  const state = await openState(options, system && { ...real, ...system });
  onTestFinished(() => state.close());
  return state;
}

/** Creates a state that no process has open. @returns its file */
async function closed(folder: string): Promise<string> {
  await (await opened(opening(folder).options)).close();
  return join(folder, 'state.db');
}

/** Replaces the file, and removes what SQLite keeps beside it. */
function replace(file: string, content: string | Uint8Array): void {
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
  writeFileSync(file, content);
}

const failure = (message: string) => ({ kind: 'failure', message: expect.stringContaining(message) });
const firstRow = [intentOf({ row: 1, petId: 1n }, 9999)];
const secondRow = [intentOf({ row: 2, petId: 2n }, 9999)];
const damaged = (folder: string) => readdirSync(folder).filter((name) => name.includes('damaged'));

/** Returns an engine that records how durable each commit is. */
async function watchedEngine(commits: number[]): Promise<Engine> {
  const { DatabaseSync } = await loadEngine();
  class Watched extends DatabaseSync {
    override prepare(sql: string) {
      const statement = super.prepare(sql);
      const run: typeof statement.run = statement.run.bind(statement);
      const value: typeof run = (...values) => {
        const pragma = (name: string) => Number(super.prepare(`PRAGMA ${name}`).get()?.[name]);
        // On macOS, a commit is durable only with both fullfsync pragmas.
        if (sql === 'COMMIT')
          commits.push(pragma('synchronous') * pragma('fullfsync') * pragma('checkpoint_fullfsync'));
        return run(...values);
      };
      return Object.defineProperty(statement, 'run', { value });
    }
  }
  return { DatabaseSync: Watched };
}

describe('a new state', () => {
  it('creates a state that is private to its owner', async () => {
    const folder = join(newFolder(), 'a', 'b');
    const state = await opened(opening(folder).options);
    await state.pets.lock(serviceName, 1n).tryAcquire();
    expect([statSync(folder).mode & 0o777, state.isFallback]).toEqual([0o700, false]);
    for (const name of readdirSync(folder))
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
  });

  it('syncs the folder of a new state to disk, once', async ({ folder }) => {
    const synced: [string, boolean][] = [];
    const syncFolder = async (path: string) => void synced.push([path, existsSync(join(path, 'state.db'))]);
    await opened(opening(folder).options, { syncFolder });
    expect(synced).toEqual([[folder, true]]);
    await opened(opening(folder).options, { syncFolder });
    expect(synced).toHaveLength(1);
  });

  it('does not create a state for a command that only reads', async ({ folder }) => {
    expect(await openExistingState(opening(folder).options)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
    await closed(folder);
    const state = await openExistingState(opening(folder).options);
    expect(await state?.describe()).toMatchObject({ engine: 'sqlite', location: join(folder, 'state.db'), runs: 0 });
    await state?.close();
  });

  it('ignores the -wal file left by a removed state', async ({ folder }) => {
    const state = await opened(opening(folder).options);
    await (await state.history.begin(headOf(), rowsFor(1n))).end();
    rmSync(join(folder, 'state.db'));
    expect(existsSync(join(folder, 'state.db-wal'))).toBe(true);
    const next = await opened(opening(folder, {}, 2).options);
    expect(await next.describe()).toMatchObject({ runs: 0 });
    expect(await next.check()).toEqual([]);
  });
});

describe('durability', () => {
  it('syncs to disk only for gates and for the beginning, intents, flushes and end of a run', async () => {
    const commits: number[] = [];
    const { options, clock } = opening(newFolder());
    const state = await opened(options, { loadEngine: () => watchedEngine(commits) });
    const [full, normal] = [2, 1];
    const kinds = async (work: () => Promise<unknown>) => {
      commits.length = 0;
      await work();
      return commits;
    };
    const folded = (record: LimitRecord) => kinds(() => state.limits.fold('key', [record]));
    const start = { type: 'start', boot: 'boot-1', env: 'staging', at: 1, wall: 1 } as const;
    expect(await folded(start)).toEqual([normal]);
    const log = await state.history.begin(headOf(), rowsFor(1n, 2n));
    expect(commits).toEqual([normal, full]);
    expect(await kinds(() => log.intend(firstRow, undefined))).toEqual([full]);
    expect(await folded(start)).toEqual([normal]);
    const refused = { type: 'answer', id: 'a', at: 3, wall: 3, status: 429, retryAfter: 60_000 } as const;
    expect(await folded(refused)).toEqual([full]);
    expect(await folded({ ...refused, status: 200, retryAfter: undefined })).toEqual([normal]);
    expect(await kinds(async () => log.settle([{ row: 1, petId: 1n, result: 'applied' }]))).toEqual([]);
    expect(await kinds(() => log.flush())).toEqual([full]);
    await log.settle([{ row: 2, petId: 2n, result: 'conflict' }]);
    expect(await kinds(async () => clock.advance(50))).toEqual([normal]);
    expect(await kinds(() => log.end())).toEqual([full]);
    expect(await kinds(async () => (await state.history.resume(log.run)).end())).toEqual([full, full]);
  });

  it('leaves nothing behind if beginning a run fails halfway', async () => {
    const state = await opened(opening(newFolder()).options);
    function* broken() {
      yield* rowsFor(1n, 2n);
      throw new Error('unreadable');
    }
    await expect(state.history.begin(headOf(), broken())).rejects.toThrow('unreadable');
    expect(await state.describe()).toMatchObject({ runs: 0, rows: 0 });
    expect(await state.presence.list()).toEqual([]);
    await state.history.begin(headOf(), rowsFor(1n));
    expect(await state.presence.list()).toHaveLength(1);
  });
});

const copied = (file: string) => {
  renameSync(file, `${file}.old`);
  writeFileSync(file, readFileSync(`${file}.old`));
};

it.for([
  ['the state file was removed', 'removed', rmSync],
  ['the state file was replaced', 'replaced', copied],
  ['its -wal file was removed', 'removed', (file: string) => rmSync(`${file}-wal`)],
  ['its -shm file was removed', 'removed', (file: string) => rmSync(`${file}-shm`)],
] as const)('refuses further intents of a run once %s', async ([, message, spoil], { folder }) => {
  const state = await opened(opening(folder).options);
  const log = await state.history.begin(headOf(), rowsFor(1n, 2n));
  await log.intend(firstRow, undefined);
  expect(state.presence.holdsLease).toBe(true);
  spoil(join(folder, 'state.db'));
  expect(state.presence.holdsLease).toBe(false);
  await expect(log.intend(secondRow, undefined)).rejects.toMatchObject(failure(message));
  await expect(log.end()).rejects.toMatchObject({ kind: 'failure' });
});

it('refuses an intent if the state has lost sequence numbers that the run has seen', async ({ folder }) => {
  const state = await opened(opening(folder).options);
  const log = await state.history.begin(headOf(), rowsFor(1n, 2n));
  await log.intend(firstRow, undefined);
  await stateSql(folder, 'UPDATE sequence SET last = 0');
  const message = expect.stringContaining('has lost confirmed writes');
  await expect(log.intend(secondRow, undefined)).rejects.toMatchObject({ message });
});

it.for([
  ['the end of a run', (log: RunLog) => log.end()],
  ['the next intent', (log: RunLog) => log.intend(secondRow, undefined)],
] as const)('fails %s once an outcome has found an older copy of the state', async ([_what, next], { folder }) => {
  const { options, clock } = opening(folder);
  const log = await (await opened(options)).history.begin(headOf(), rowsFor(1n, 2n));
  await log.intend(firstRow, undefined);
  await stateSql(folder, 'UPDATE sequence SET last = 0');
  log.settle([{ row: 1, petId: 1n, result: 'applied' }]);
  clock.advance(50);
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  await stateSql(folder, 'UPDATE sequence SET last = 1000');
  const message = expect.stringContaining('has lost confirmed writes');
  await expect(next(log)).rejects.toMatchObject({ message });
});

it('blocks a row while a request from before a reboot may arrive, and then supersedes the row', async ({ folder }) => {
  const before = await opened(opening(folder).options);
  const lost = await before.history.begin(headOf(), rowsFor(1n));
  await lost.intend(firstRow, undefined);
  // The run is never ended, as if its process had been killed.
  Object.assign(lost, { end: async () => {}, flush: async () => {} });
  const clock = createStateClock('boot-2');
  clock.advance(1_000_000);
  const processes = new FakeProcesses().view(2, { boot: 'boot-2' });
  const state = await opened(opening(folder, { clock, processes }, 2).options);
  const since = await readVersionOf(state);
  const log = await state.history.begin(headOf(), rowsFor(1n));
  const intend = () => log.intend([intentOf({ row: 1, petId: 1n }, clock.monotonic() + 9999)], since);
  expect(await intend()).toMatchObject([{ kind: 'busy' }]);
  clock.advance(40_000);
  expect(await intend()).toMatchObject([{ kind: 'superseded', run: lost.run }]);
});

it('ends a wait for a process from before a reboot on Ctrl-C', async ({ folder }) => {
  const { run } = await (await opened(opening(folder).options)).history.begin(headOf(), rowsFor(1n));
  const sleep = async (_ms: number, signal?: AbortSignal) => signal?.throwIfAborted();
  const clock = { ...createStateClock('boot-2'), sleep };
  const processes = new FakeProcesses().view(2, { boot: 'boot-2' });
  const interrupted = AbortSignal.abort(new Error('Ctrl-C'));
  const { options, warnings } = opening(folder, { clock, processes, interrupted }, 2);
  await expect((await opened(options)).history.resume(run)).rejects.toThrow('Ctrl-C');
  expect(warnings).toEqual([expect.stringContaining('Waiting up to 15 s')]);
});

it.each([
  [99, 'Use that version', undefined],
  [2, 'never released', expect.stringContaining('mv ')],
])('refuses a state of version %i, and does not change it', async (version, message, hint) => {
  const folder = newFolder();
  const file = await closed(folder);
  await stateSql(folder, `PRAGMA user_version = ${version}`);
  const before = readFileSync(file);
  const said = { ...failure(message), hint };
  await expect(openState(opening(folder).options)).rejects.toMatchObject(said);
  expect(readFileSync(file)).toEqual(before);
  expect(damaged(folder)).toEqual([]);
});

describe('a file that can’t be used', () => {
  const none = 'this is not a database, and never was one';

  it.each([
    ['a file of another kind', () => none, /damaged-/],
    ['torn', (whole: Buffer) => Buffer.concat([whole.subarray(0, 100), Buffer.alloc(8000, 0xff)]), /damaged-/],
    ['emptied', () => '', /was emptied/],
  ])('moves a damaged state aside with a warning: %s', async (_name, contentOf, said) => {
    const folder = newFolder();
    const file = await closed(folder);
    replace(file, contentOf(readFileSync(file)));
    await expect(openExistingState(opening(folder).options)).rejects.toMatchObject({ kind: 'failure' });
    const { options, warnings } = opening(folder, {}, 2);
    const state = await opened(options);
    expect(await state.describe()).toMatchObject({ runs: 0 });
    const [aside = 'none'] = damaged(folder);
    expect(warnings).toEqual([expect.stringMatching(said)]);
    expect(warnings).toEqual([expect.stringContaining(aside)]);
  });

  it.each([
    ['empty', () => ''],
    ['a file of another kind', () => none],
    ['a file that is cut off', (whole: Buffer) => whole.subarray(0, 9000)],
  ])('leaves a damaged state unchanged if a command only reads: %s', async (_name, contentOf) => {
    const folder = newFolder();
    const file = await closed(folder);
    replace(file, contentOf(readFileSync(file)));
    const before = readFileSync(file);
    const looking = openExistingState(opening(folder).options).then((state) => state?.check());
    await expect(looking).rejects.toMatchObject(failure('damaged'));
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(damaged(folder)).toEqual([]);
  });

  it('refuses a database of another program', async ({ folder }) => {
    await stateSql(folder, 'CREATE TABLE birds (name TEXT)');
    await expect(openState(opening(folder).options)).rejects.toMatchObject(failure('not a petstock state'));
  });
});

describe('a folder that can’t be used', () => {
  const unusable = '/proc/petstock-state';
  const hint = expect.stringContaining('PETSTOCK_STATE_DIR');

  it('refuses a state folder on a network, whatever the command needs', async () => {
    for (const need of ['limits', 'history'] as const) {
      const folder = newFolder();
      const { options } = opening(folder, { need, runtimeFolders: [folder] });
      const failing = opened(options, { isOnNetwork: async () => true });
      await expect(failing).rejects.toMatchObject(failure('network'));
      expect(readdirSync(folder)).toEqual([]);
    }
  });

  it('moves the limits to the first usable runtime folder, with a warning', async () => {
    const runtimeFolder = join(newFolder(), 'runtime');
    const runtimeFolders = ['/proc/other', runtimeFolder];
    const { options, warnings } = opening(unusable, { need: 'limits', runtimeFolders });
    const state = await opened(options);
    await state.limits.fold('key', [{ type: 'start', boot: 'boot-1', env: 'staging', at: 1, wall: 1 }]);
    expect(warnings).toEqual([expect.stringContaining(runtimeFolder)]);
    expect(existsSync(join(runtimeFolder, 'state.db'))).toBe(true);
    const writes = [
      () => state.history.begin(headOf(), rowsFor(1n)),
      () => state.pets.lock(serviceName, 1n).tryAcquire(),
    ];
    for (const write of writes) await expect(write()).rejects.toMatchObject({ ...failure('Nothing was sent'), hint });
  });

  it("keeps a gate in petstock's own folder after both login folders are gone", async ({ folder }) => {
    const logins = [newFolder(), newFolder()];
    const { options, clock } = opening(folder, { runtimeFolders: ['/proc/other', ...logins] });
    const state = await openState(options);
    const at = clock.monotonic();
    const refused = { type: 'answer', id: 'a', at, wall: at, status: 429, retryAfter: 60_000 } as const;
    await state.limits.fold('key', [{ type: 'start', boot: 'boot-1', env: 'staging', at, wall: at }, refused]);
    await state.close();
    for (const login of logins) {
      expect(readdirSync(login)).toContain('gate-key.json');
      rmSync(login, { recursive: true });
    }
    expect((await opened(options)).limits.peek('key').gate.at).toBe(at + 60_000);
  });

  it("fails if the state folder can't be used and no other folder may replace it", async () => {
    const [runtimeFolder, need] = [newFolder(), 'limits'] as const;
    for (const fields of [{ runtimeFolders: [runtimeFolder] }, { need }, { need, runtimeFolders: ['/proc/other'] }])
      await expect(openState(opening(unusable, { ...fields }).options)).rejects.toMatchObject({
        kind: 'failure',
        hint,
      });
    const inTheWay = join(runtimeFolder, 'file');
    writeFileSync(inTheWay, '');
    await expect(openState(opening(join(inTheWay, 'state')).options)).rejects.toMatchObject({ kind: 'failure' });
  });

  it('warns when opening the state if the disk is full', async ({ folder }) => {
    const { DatabaseSync } = await loadEngine();
    await closed(folder);
    const isFull = { now: true };
    class Full extends DatabaseSync {
      override prepare(sql: string) {
        if (!isFull.now || !sql.startsWith('UPDATE sequence')) return super.prepare(sql);
        isFull.now = false;
        throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
      }
    }
    const runtimeFolder = join(newFolder(), 'runtime');
    const { options, warnings } = opening(folder, {
      need: 'limits',
      runtimeFolders: [runtimeFolder],
    });
    await opened(options, { loadEngine: async () => ({ DatabaseSync: Full }) });
    expect(warnings).toEqual([expect.stringContaining('disk is full')]);
  });
});

it('gives up on a state that a stopped process holds, and names the process', async ({ folder }) => {
  const other = opening(folder, { command: 'inventory apply' }, 42);
  await (await opened(other.options)).pets.lock(serviceName, 1n).tryAcquire();
  const { options, processes, clock } = opening(folder);
  processes.stop(42);
  const { DatabaseSync } = await loadEngine();
  class Impatient extends DatabaseSync {
    override exec(sql: string): void {
      super.exec(sql.replace('busy_timeout = 10000', 'busy_timeout = 1'));
    }
  }
  const state = await opened(options, { loadEngine: async () => ({ DatabaseSync: Impatient }) });
  const holding = new DatabaseSync(join(folder, 'state.db'));
  holding.exec('BEGIN IMMEDIATE');
  // The lease has ended, because a stopped process doesn't renew it.
  clock.advance(60_000);
  const message = expect.stringContaining('process 42 on till (petstock inventory apply), which is stopped');
  await expect(state.pets.lock(serviceName, 1n).tryAcquire()).rejects.toMatchObject({ kind: 'unavailable', message });
  holding.exec('ROLLBACK');
  holding.close();
  await state.pets.lock(serviceName, 1n).release();
});

describe('SQLite', () => {
  it.each([
    ['20.20.2', false],
    ['22.17.1', false],
    ['22.18.0', true],
    ['23.0.0', true],
    ['24.1.0', true],
  ])('decides whether the SQLite of Node %s is usable: %s', (version, isOwn) => {
    expect(hasOwnEngine(version)).toBe(isOwn);
  });

  it("suggests a Node version if SQLite can't be loaded", async () => {
    const noBinary = () => loadEngine('20.0.0', () => Promise.reject(new Error('no binary for this system')));
    const failing = opened(opening(newFolder()).options, { loadEngine: noBinary });
    await expect(failing).rejects.toMatchObject(failure('22.18'));
  });
});

it('opens a new state in several processes at once', async ({ folder }) => {
  const program = await bundled('test/state/opening-process.ts');
  const openAndBegin = () => promisify(execFile)(process.execPath, [program, folder]);
  const outputs = await Promise.all([1, 2, 3].map(openAndBegin));
  expect(outputs).toEqual(Array(3).fill({ stdout: 'begun 5\n', stderr: '' }));
  const state = await opened(opening(folder).options);
  expect(await state.describe()).toMatchObject({ runs: 15, rows: 15 });
  expect(await state.check()).toEqual([]);
});
