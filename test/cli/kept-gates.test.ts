import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { emptyState } from '../../src/rate-limit/key-state.ts';
import { LimitsWithGateFiles } from '../../src/rate-limit/limits-with-gate-files.ts';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import { takeLock } from '../../src/shared/sqlite-engine.ts';
import { createTestClock } from '../support/clock.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { openShop, type Shop, temporaryFolders } from '../support/shop.ts';
import { withFsync } from '../support/with-fsync.ts';

/** The first test with PostgreSQL also starts the server. */
vi.setConfig({ testTimeout: 60_000 });

const away = 'postgresql://127.0.0.1:1/pets';

/** Opens a shop that has a state, and whose first GET gets a 429 with a wait of 120 s. */
async function shopWithState(env?: Record<string, string>): Promise<Shop> {
  const shop = await openShop({ faults: ['GET /inventory:first=1:status=429:retry-after=120'] });
  await shop.exits('inventory set 1 5', 0, [], { env });
  return shop;
}

const expectGate = async (shop: Shop, env?: Record<string, string>) =>
  expect((await shop.exits('inventory list', 6, [], { env })).requests).toEqual([]);

const refuse = (shop: Shop, env?: Record<string, string>) => shop.exits('inventory list', 6, [], { env });

/** Replaces the state folder by a file, so that nothing can be stored. */
async function blockFolder({ folders }: Shop): Promise<void> {
  await rename(folders.state, `${folders.state}.away`);
  await writeFile(folders.state, '');
}

async function damage({ folders }: Shop): Promise<void> {
  const file = join(folders.state, 'state.db');
  for (const end of ['-wal', '-shm']) await rm(`${file}${end}`, { force: true });
  await writeFile(file, 'damaged '.repeat(1000));
}

async function bringBack({ folders }: Shop, end: string): Promise<void> {
  await rm(folders.state, { recursive: true });
  await rename(`${folders.state}${end}`, folders.state);
}

const nothing = async () => {};
const copy = ({ folders }: Shop) => cp(folders.state, `${folders.state}.copy`, { recursive: true });

test.each<[string, before: (shop: Shop) => Promise<void>, after: (shop: Shop) => Promise<void>]>([
  ['was removed', nothing, ({ folders }) => rm(folders.state, { recursive: true })],
  ['becomes unusable', nothing, blockFolder],
  ['was set aside as damaged', nothing, damage],
  ['is restored from an older copy', copy, (shop) => bringBack(shop, '.copy')],
  ['becomes usable after the gate was set', blockFolder, (shop) => bringBack(shop, '.away')],
])('keeps a gate of 120 s if the state folder %s', async (_how, before, after) => {
  const shop = await shopWithState();
  await before(shop);
  await refuse(shop);
  await after(shop);
  await expectGate(shop);
  shop.clock.advance(130_000);
  await shop.exits('inventory list', 0);
});

describe('a gate in a shared state', () => {
  test.each([
    ['down', 'up again'],
    ['up', 'down'],
  ])('keeps a gate that is set while the shared state is %s, even once the state is %s', async (first) => {
    const there = await temporaryDatabase();
    const [before, after] = first === 'down' ? [away, there] : [there, away];
    const shop = await shopWithState({ PETSTOCK_STATE_URL: there });
    await refuse(shop, { PETSTOCK_STATE_URL: before });
    await expectGate(shop, { PETSTOCK_STATE_URL: after });
  });

  test('keeps a gate if the database is lost together with the runtime folder', async () => {
    const shop = await shopWithState();
    await refuse(shop, { PETSTOCK_STATE_URL: await temporaryDatabase() });
    await rm(join(shop.folders.state, '..', 'runtime'), { recursive: true });
    await expectGate(shop, { PETSTOCK_STATE_URL: await temporaryDatabase() });
  });
});

test("clears no limits, and suggests no other state folder, if the one with the history can't be used", async () => {
  const shop = await shopWithState();
  await refuse(shop);
  chmodSync(shop.folders.state, 0o770);
  const failsAt = (command: string, end: RegExp) => shop.exits(command, 1, ['others can write to it', end]);
  await failsAt('limits clear --yes', /\. Nothing was cleared\.\n$/);
  for (const command of ['history list', 'undo --last --yes']) await failsAt(command, /\. Nothing was sent\.\n$/);
  chmodSync(shop.folders.state, 0o700);
  await expectGate(shop);
});

describe('gate files of a state that fails', () => {
  const scope = '1'.repeat(32);
  const gate = { type: 'answer', id: 'a', status: 429, retryAfter: 60_000, at: 1000, wall: 0 } as const;
  const start = { type: 'start', boot: 'boot-1', env: 'staging', at: 1000, wall: 1000 } as const;
  const intent = { type: 'intent', ids: ['b'], minPermits: 1, by: '', at: 1000, expires: 2000, bulk: false } as const;

  async function rig(...given: readonly string[]) {
    const clock = createTestClock();
    const lines: string[] = [];
    const store = new MemoryLimits();
    /** The behaviour of a state (it hangs, fails or can't be read), and the gate that it knows. */
    const state = { isHung: false, failure: undefined as Error | undefined, isDamaged: false, known: emptyState() };
    const limits = {
      fold: (...call: Parameters<MemoryLimits['fold']>) => {
        if (state.isHung) return new Promise<never>(() => {});
        return state.failure === undefined ? store.fold(...call) : Promise.reject(state.failure);
      },
      peek: () => {
        if (state.isDamaged) throw new Error('damaged');
        return state.known;
      },
      read: async () => state.known,
      list: async () => [],
      clear: async () => {},
    };
    const folder = given[0] ?? (await temporaryFolders()).state;
    const warn = (line: string) => lines.push(line);
    const openWith = (...runtimeFolders: readonly string[]) =>
      new LimitsWithGateFiles(limits, { runtimeFolders, clock, warn, isBrief: true });
    const open = (url?: string) => new LimitsWithGateFiles(limits, { runtimeFolders: [folder], clock, url, warn });
    const failToFold = async () => {
      state.failure = full();
      await expect(open().fold(scope, [gate])).rejects.toThrow('full');
    };
    return { clock, lines, folder, open, openWith, state, failToFold };
  }
  const full = () => Object.assign(new Error('full'), { code: 'ENOSPC' });

  test('writes a gate file before the state has stored the gate', async () => {
    const { open, state } = await rig();
    const other = open();
    state.isHung = true;
    void open().fold(scope, [gate]);
    await vi.waitFor(() => expect(other.peek(scope).gate.at).toBe(61_000));
  });

  test('flushes gate files to disk before the state stores the gate', async () => {
    const { folder, open, state } = await rig();
    const events: string[] = [];
    Object.defineProperty(state, 'isHung', { get: () => void events.push('state') });
    // Windows flushes only a file that is open for writing.
    const mode = (descriptor: number) =>
      /flags:\s*\d*(\d)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    await withFsync(
      (descriptor, done) => {
        events.push(`${mode(descriptor)} ${readlinkSync(`/proc/self/fd/${descriptor}`)}`);
        done(null);
      },
      () => open().fold(scope, [gate]),
    );
    expect(events).toEqual([`2 ${join(folder, `gate-${scope}.json`)}`, `0 ${folder}`, 'state']);
  });

  test("obeys gate files if the state can't be read or is from before a restart", async () => {
    const { open, state, failToFold } = await rig();
    state.isDamaged = true;
    await failToFold();
    Object.assign(state, { isDamaged: false, failure: undefined });
    expect(open().peek(scope).gate.at).toBe(61_000);
    state.known = { ...emptyState(), boot: 'before', gate: { at: 1e9, wall: 0, length: 1, reason: 'refused' } };
    expect((await open().fold(scope, [start, intent])).inFlight.size).toBe(0);
  });

  test('keeps a gate through a restart, timed by the wall clock, but at most for its original length', async () => {
    const { clock, folder, open } = await rig();
    await open().fold(scope, [{ ...gate, at: clock.monotonic(), wall: clock.now() }]);
    const gateAfter = (passed: number) => {
      const restarted = { ...clock, boot: () => 'next', monotonic: () => 5, now: () => clock.now() + passed };
      return new LimitsWithGateFiles(new MemoryLimits(), {
        runtimeFolders: [folder],
        clock: restarted,
        warn: () => {},
      });
    };
    expect(gateAfter(20_000).peek(scope).gate.at).toBe(40_005);
    expect(gateAfter(-3_600_000).peek(scope).gate.at).toBe(60_005);
    expect(gateAfter(60_000).peek(scope).gate.at).toBe(0);
  });

  test('reads gate files in the format of 0.2.0', async () => {
    const { clock, folder, open } = await rig();
    const file = join(folder, `gate-${scope}.json`);
    await open().fold(scope, [gate]);
    const { at, wall, length, reason, boot, bootedAt, env } = JSON.parse(await readFile(file, 'utf8'));
    expect({ at, reason, boot, env }).toEqual({ at: 61_000, reason: 'refused', boot: clock.boot(), env: '' });
    expect(bootedAt).toBe(clock.now() - clock.monotonic());
    await writeFile(file, JSON.stringify({ at, wall, length, reason, boot, env }));
    expect(open().peek(scope).gate).toEqual({ at, wall, length, reason });
  });

  test('keeps the longest of several simultaneous gates', async () => {
    const { open, state } = await rig();
    state.failure = full();
    const waits = [60_000, 120_000, 90_000, 30_000];
    await Promise.allSettled(waits.map((retryAfter) => open().fold(scope, [{ ...gate, retryAfter }])));
    expect(open().peek(scope).gate.at).toBe(121_000);
  });

  test('writes gate files while another process holds the lock, but does not remove them', async () => {
    const { open, clock, folder, failToFold } = await rig();
    const file = join(folder, `gate-${scope}.json`);
    await mkdir(folder, { mode: 0o700, recursive: true });
    const lock = takeLock(join(folder, 'gates.lock'));
    await failToFold();
    clock.advance(120_000);
    expect(open().peek(scope).gate.at).toBe(0);
    expect(existsSync(file)).toBe(true);
    lock.close();
    open().peek(scope);
    expect(existsSync(file)).toBe(false);
  });

  test('saves the gates of other machines from a shared state in gate files, beside its own gates', async () => {
    const { folder, open, state } = await rig();
    const told = { at: 61_000, wall: 60_000, length: 60_000, reason: 'refused' } as const;
    state.known = { ...emptyState(), boot: 'boot-1', gate: told };
    await open('postgresql://db').read?.(scope);
    state.known = emptyState();
    expect(open().peek(scope).gate.at).toBe(61_000);
    await open('postgresql://db').fold(scope, [gate]);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining([`gate-${scope}.json`, `told-${scope}.json`]));
  });

  test.each([
    ['a new login', ['tmp'], ['tmp', 'run']],
    ['the end of a login', ['tmp', 'run'], ['tmp']],
    ['the end of a login, if one folder is unwritable', ['/proc/tmp', 'run', 'home'], ['/proc/tmp', 'home']],
    ['the removal of a variable', ['tmp', 'session', 'run'], ['tmp', 'run']],
  ])('keeps a gate after %s', async (_what, before, after) => {
    const { openWith, folder } = await rig();
    const paths = (names: readonly string[]) => names.map((name) => (name[0] === '/' ? name : join(folder, name)));
    await openWith(...paths(before)).fold(scope, [gate]);
    expect(openWith(...paths(after)).peek(scope).gate.at).toBe(61_000);
  });

  property(
    'keeps a gate for every login and job, even if folders come and go',
    [fc.array(fc.subarray(['session', 'run']), { minLength: 2, maxLength: 6 }), fc.nat(4)],
    { numRuns: 30 },
    async (views, at) => {
      const { openWith, folder } = await rig();
      const open = (view: readonly string[]) => openWith(...['tmp', ...view, 'home'].map((name) => join(folder, name)));
      const met = at % views.length;
      await open(views[met] ?? []).fold(scope, [gate]);
      for (const view of views) {
        // The files of a login session or job are removed when it ends.
        for (const name of ['session', 'run'])
          if (!view.includes(name)) rmSync(join(folder, name), { recursive: true, force: true });
        expect(open(view).peek(scope).gate.at).toBe(61_000);
      }
    },
  );

  test('writes gate files into at most two folders', async () => {
    const { openWith, folder } = await rig();
    const folders = ['a', 'b', 'c'].map((name) => join(folder, name));
    await openWith(...folders).fold(scope, [gate]);
    expect(folders.map((each) => existsSync(join(each, `gate-${scope}.json`)))).toEqual([true, true, false]);
  });

  test('warns in a program without a state if no folder can store a gate file', async () => {
    const { openWith, lines } = await rig();
    await openWith('/proc/petstock', '/proc/other').fold(scope, [gate]);
    expect(lines).toEqual([expect.stringMatching(/wait of 60 s, but it can't be saved: .+Other programs don't know/)]);
  });

  test('makes a command warn and wait if neither the state nor a file can store a gate', async () => {
    const { failToFold, lines, clock } = await rig('/proc/petstock');
    await failToFold();
    expect(lines).toEqual([
      "The service asked for a wait of 60 s, but it can't be saved: the disk is full. petstock waits now. " +
        'Start no other command with this key until it has finished',
    ]);
    expect(clock.sleeps).toEqual([60_000]);
  });

  test('does not report a known gate again if its time drifts', async () => {
    const { open, state, lines, clock } = await rig();
    state.failure = full();
    let at = 61_000;
    const drifting = { wall: 60_000, length: 60_000, reason: 'refused' } as const;
    state.known = {
      ...emptyState(),
      boot: clock.boot(),
      get gate() {
        at += 1;
        return { ...drifting, at };
      },
    };
    await expect(open('postgresql://db').fold(scope, [{ ...gate, retryAfter: 1000 }])).rejects.toThrow('full');
    expect({ lines, sleeps: clock.sleeps }).toEqual({ lines: [], sleeps: [] });
  });

  test.each([
    '',
    '{',
    '{"at":1}',
    '[]',
    'null',
    '{"boot":"test","env":"","at":1e999,"wall":0,"length":0,"reason":"refused"}',
    '{"boot":"test","env":"","at":"never","wall":0,"length":0,"reason":"refused"}',
    '{"boot":"test","env":7,"at":1e9,"wall":0,"length":0,"reason":"refused"}',
    '{"boot":7,"env":"","at":1e9,"wall":0,"length":0,"reason":"refused"}',
    '{"boot":"x","env":"","windows":null,"at":1e9,"wall":0,"length":0,"reason":"refused"}',
  ])('ignores a gate file with the content %j', async (text) => {
    const { open, folder } = await rig();
    await mkdir(folder, { mode: 0o700, recursive: true });
    await writeFile(join(folder, `gate-${scope}.json`), text);
    expect((await open().fold(scope, [intent])).inFlight.size).toBe(1);
  });
});

describe('a forged gate in the shared state', () => {
  /** Overwrites a part of the stored limits of each key, and raises the version of the row. */
  const write = (url: string, facts: string) =>
    runSql(url, `UPDATE petstock.limits SET version = version + 1, state = (state::jsonb || '${facts}'::jsonb)::text`);
  const gateFor = (ms: number) => {
    const at = Date.now() + ms;
    return JSON.stringify({ gate: { at, wall: at, length: Math.min(ms, 60_000), reason: 'refused' } });
  };

  /** Opens a shop whose shared state has these facts. `other` holds the variables of a second machine. */
  async function machineWith(facts: string) {
    const url = await temporaryDatabase();
    const shop = await openShop();
    const env = { PETSTOCK_STATE_URL: url };
    await shop.exits('inventory list', 0, [], { env });
    await write(url, facts);
    const { state } = await temporaryFolders();
    return { shop, env, url, other: { ...env, PETSTOCK_RUNTIME_DIR: join(state, 'runtime') } };
  }

  test.each<[how: string, repair: (machine: Awaited<ReturnType<typeof machineWith>>) => Promise<unknown>]>([
    ['its row is removed', ({ url }) => runSql(url, 'DELETE FROM petstock.limits')],
    ['its row is corrected', ({ url }) => write(url, JSON.stringify({ gate: { at: 0, wall: 0, length: 0 } }))],
    [
      'another machine has cleared the gate',
      ({ shop, other }) => shop.exits('limits clear --yes', 0, [], { env: other }),
    ],
  ])('ignores a forged gate in the gate files once %s', async (_how, repair) => {
    const machine = await machineWith(gateFor(600_000));
    const { shop, env, other } = machine;
    await expectGate(shop, env);
    expect(existsSync(join(shop.folders.state, '..', 'runtime'))).toBe(true);
    await repair(machine);
    for (const by of [other, env]) await shop.exits('inventory list', 0, [], { env: by });
  });

  test('keeps a real gate of this machine after a forged state is repaired', async () => {
    const { shop, env, url } = await machineWith('{}');
    shop.service.setFaults(['GET /inventory:first=1:status=429:retry-after=120']);
    await refuse(shop, env);
    await write(url, gateFor(600_000));
    await expectGate(shop, env);
    await runSql(url, 'DELETE FROM petstock.limits');
    await shop.exits('inventory list', 6, 'again in 2 min', { env });
  });

  test('shortens a forged gate of 400 days to at most two months', async () => {
    const { shop, env } = await machineWith(gateFor(400 * 86_400_000));
    const { stderr } = await shop.run('limits', { env });
    const [, year, month] = /nothing is sent before (\d+)-(\d+)/.exec(stderr) ?? [];
    expect(Number(year) * 12 + Number(month)).toBeLessThanOrEqual(
      new Date(shop.clock.now()).getUTCFullYear() * 12 + new Date(shop.clock.now()).getUTCMonth() + 1 + 2,
    );
  });

  test.each([
    '{"gate":{"at":1e300,"wall":1e300,"length":1,"reason":"refused"}}',
    '{"gate":{"at":"soon","wall":1,"length":1}}',
    '{"gate":7,"windows":{"minute":null}}',
    '{"windows":{"minute":{"reset":1e300,"limit":1,"left":0}}}',
    '{"windows":{"minute":{"reset":"x","limit":1,"left":0,"least":0,"toldAt":0,"asOf":0,"own":0,"first":7}}}',
    '{"offset":{"least":"1"}}',
    '{"inFlight":7}',
    '{"inFlight":[7,null,["a",null]]}',
    '{"env":{"a":1},"boot":7}',
    '{"episodes":"3","halfOpen":"yes"}',
  ])('prints valid times despite the forged state %s', async (facts) => {
    const { shop, env } = await machineWith(facts);
    for (const command of ['limits', 'limits --json', 'status', 'inventory list', 'limits clear --yes']) {
      const { stdout, stderr } = await shop.exits(command, 0, [], { env });
      expect(stdout + stderr).not.toMatch(/NaN|bug in petstock|undefined/);
    }
  });
});
