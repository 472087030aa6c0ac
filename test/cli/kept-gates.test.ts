import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { openPetstoreClient as createPetstoreClient } from '../../src/library/petstore-client.ts';
import { LimitsWithCopies } from '../../src/rate-limit/gate-copies.ts';
import { emptyState, type KeyState } from '../../src/rate-limit/key-state.ts';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import { createTestClock } from '../support/clock.ts';
import { temporaryDatabase } from '../support/postgres.ts';
import { openShop, type Shop, temporaryFolders } from '../support/shop.ts';

/** The first test with PostgreSQL starts the server. */
vi.setConfig({ testTimeout: 60_000 });

const away = 'postgresql://127.0.0.1:1/pets';

/** A shop whose first GET is refused for 120 s; its state is there already. */
async function shopWithState(env?: Record<string, string>): Promise<Shop> {
  const shop = await openShop({ faults: ['GET /inventory:first=1:status=429:retry-after=120'] });
  expect(await shop.run('inventory set 1 5', { env })).toMatchObject({ code: 0 });
  return shop;
}

const expectGate = async (shop: Shop, env?: Record<string, string>) =>
  expect(await shop.run('inventory list', { env })).toMatchObject({ code: 6, requests: [] });

async function expectGateToEnd(shop: Shop): Promise<void> {
  await expectGate(shop);
  shop.clock.advance(130_000);
  expect(await shop.run('inventory list')).toMatchObject({ code: 0 });
}

const refuse = async (shop: Shop, env?: Record<string, string>) =>
  expect(await shop.run('inventory list', { env })).toMatchObject({ code: 6 });

const database = ({ folders }: Shop) => join(folders.state, 'state.db');

/** Nothing can be kept in a file that stands in the place of the folder. */
async function blockFolder({ folders }: Shop): Promise<void> {
  await rename(folders.state, `${folders.state}.away`);
  await writeFile(folders.state, '');
}

describe('a gate of 120 s outlasts a state folder', () => {
  test.each<[string, (shop: Shop) => Promise<void>]>([
    ['that was removed', ({ folders }) => rm(folders.state, { recursive: true })],
    ['that can not be used any more', blockFolder],
    [
      'whose state is set aside as damaged',
      async (shop) => {
        for (const end of ['-wal', '-shm']) await rm(`${database(shop)}${end}`, { force: true });
        await writeFile(database(shop), 'damaged '.repeat(1000));
      },
    ],
  ])('%s', async (_how, forget) => {
    const shop = await shopWithState();
    await refuse(shop);
    await forget(shop);
    await expectGateToEnd(shop);
  });

  test('that is restored from an older copy', async () => {
    const shop = await shopWithState();
    await cp(shop.folders.state, `${shop.folders.state}.copy`, { recursive: true });
    await refuse(shop);
    await rm(shop.folders.state, { recursive: true });
    await rename(`${shop.folders.state}.copy`, shop.folders.state);
    await expectGateToEnd(shop);
  });

  test('that can be used again, if it came up meanwhile', async () => {
    const shop = await shopWithState();
    await blockFolder(shop);
    await refuse(shop);
    await rm(shop.folders.state);
    await rename(`${shop.folders.state}.away`, shop.folders.state);
    await expectGateToEnd(shop);
  });
});

describe('a gate of 120 s outlasts a shared state', () => {
  test.each([
    ['away', 'back'],
    ['there', 'away'],
  ])('that is %s when it comes up, and then %s', async (first) => {
    const there = await temporaryDatabase();
    const [before, after] = first === 'away' ? [away, there] : [there, away];
    const shop = await shopWithState({ PETSTOCK_STATE_URL: there });
    await refuse(shop, { PETSTOCK_STATE_URL: before });
    await expectGate(shop, { PETSTOCK_STATE_URL: after });
  });

  test('whose database is lost together with the runtime folder', async () => {
    const shop = await shopWithState();
    await refuse(shop, { PETSTOCK_STATE_URL: await temporaryDatabase() });
    await rm(join(shop.folders.state, '..', 'runtime'), { recursive: true });
    await expectGate(shop, { PETSTOCK_STATE_URL: await temporaryDatabase() });
  });
});

test('a gate that only its copy knows is shown, and is cleared with the rest', async () => {
  const shop = await shopWithState();
  await refuse(shop);
  await rm(shop.folders.state, { recursive: true });
  await shop.run('inventory set 1 5 --max-wait 0');
  expect((await shop.run('limits')).stderr).toContain('after a 429 nothing is sent before');
  expect(await shop.run('limits clear --yes')).toMatchObject({ code: 0 });
  expect(await shop.run('inventory list')).toMatchObject({ code: 0 });
});

test('a program that has a state folder of its own goes by the same gate', async () => {
  const shop = await shopWithState();
  const runtime = join((await temporaryFolders()).state, '..', 'runtime');
  vi.stubEnv('XDG_RUNTIME_DIR', runtime);
  try {
    await shop.run('inventory list', { env: { XDG_RUNTIME_DIR: runtime } });
    const { service, clock } = shop;
    const stateFolder = (await temporaryFolders()).state;
    const client = createPetstoreClient({ baseUrl: service.url, key: service.key, clock, stateFolder });
    await expect(client.probe()).rejects.toMatchObject({ kind: 'rate-limited' });
    await client.close();
  } finally {
    vi.unstubAllEnvs();
  }
});

test('a program whose listener throws on a 429, and one without its state, go by the gate', async () => {
  const shop = await shopWithState();
  const { service, clock } = shop;
  const runtime = join((await temporaryFolders()).state, '..', 'runtime');
  vi.stubEnv('XDG_RUNTIME_DIR', runtime);
  try {
    const options = { baseUrl: service.url, key: service.key, clock, maxWait: 0 };
    const onLimit = () => {
      throw new Error('a mistake of the program');
    };
    const throwing = createPetstoreClient({ ...options, stateFolder: (await temporaryFolders()).state, onLimit });
    const without = createPetstoreClient({ ...options, stateUrl: away, onFallback: () => {} });
    const sent = service.journal().length;
    for (const client of [throwing, throwing, without]) await expect(client.probe()).rejects.toThrow();
    expect(service.journal()).toHaveLength(sent + 1);
    for (const client of [throwing, without]) await client.close();
  } finally {
    vi.unstubAllEnvs();
  }
});

describe('the copies of a state that fails', () => {
  const scope = '1'.repeat(32);
  const gate = { type: 'answer', id: 'a', status: 429, retryAfter: 60_000, at: 1000, wall: 0 } as const;
  const start = { type: 'start', boot: 'boot-1', env: 'staging', at: 1000, wall: 1000 } as const;
  const intent = { type: 'intent', ids: ['b'], least: 1, by: '', at: 1000, expires: 2000, bulk: false } as const;

  async function rig(runtimeFolder?: string) {
    const clock = createTestClock();
    const lines: string[] = [];
    const store = new MemoryLimits();
    let failure: Error | undefined;
    let isHung = false;
    let isDamaged = false;
    let known = emptyState();
    const limits = {
      fold: (...call: Parameters<MemoryLimits['fold']>) => {
        if (isHung) return new Promise<never>(() => {});
        return failure === undefined ? store.fold(...call) : Promise.reject(failure);
      },
      peek: () => {
        if (isDamaged) throw new Error('damaged');
        return known;
      },
      look: async () => known,
      list: async () => [],
      clear: async () => {},
    };
    const folder = runtimeFolder ?? (await temporaryFolders()).state;
    const open = (url?: string) =>
      new LimitsWithCopies(limits, {
        ...{ gateFolder: folder, clock, url },
        warn: (line) => lines.push(line),
      });
    return {
      ...{ clock, lines, folder, open },
      hang: () => {
        isHung = true;
      },
      damage: (is: boolean) => {
        isDamaged = is;
      },
      know: (state: KeyState) => {
        known = state;
      },
      fail: (error: Error | undefined) => {
        failure = error;
      },
    };
  }
  const full = () => Object.assign(new Error('full'), { code: 'ENOSPC' });

  test('are written before the state, which may have to wait for others: nothing is lost if the process ends meanwhile', async () => {
    const { open, hang } = await rig();
    const other = open();
    hang();
    void open().fold(scope, [gate]);
    await vi.waitFor(() => expect(other.peek(scope).gate.at).toBe(61_000));
  });

  test('are written if the state can not even be read any more', async () => {
    const { open, fail, damage } = await rig();
    fail(full());
    damage(true);
    await expect(open().fold(scope, [gate])).rejects.toThrow('full');
    damage(false);
    expect(open().peek(scope).gate.at).toBe(61_000);
  });

  test('count beside a gate of before a restart, which may look later', async () => {
    const { open, fail, know } = await rig();
    fail(full());
    await expect(open().fold(scope, [gate])).rejects.toThrow('full');
    fail(undefined);
    know({ ...emptyState(), boot: 'before', gate: { at: 1e9, wall: 0, length: 1, reason: 'refused' } });
    expect((await open().fold(scope, [start, intent])).inFlight.size).toBe(0);
  });

  test('hold after a restart for as long as the wall clock says, and no longer than at first', async () => {
    const { clock, folder, open } = await rig();
    await open().fold(scope, [{ ...gate, at: clock.monotonic(), wall: clock.now() }]);
    const gateAfter = (passed: number) => {
      const restarted = { ...clock, boot: () => 'next', monotonic: () => 5, now: () => clock.now() + passed };
      return new LimitsWithCopies(new MemoryLimits(), { gateFolder: folder, clock: restarted, warn: () => {} });
    };
    expect(gateAfter(20_000).peek(scope).gate.at).toBe(40_005);
    expect(gateAfter(-3_600_000).peek(scope).gate.at).toBe(60_005);
    expect(gateAfter(60_000).peek(scope).gate.at).toBe(0);
  });

  test('are those of 0.2.0, which may run beside this one', async () => {
    const { clock, folder, open } = await rig();
    const file = join(folder, `gate-${scope}.json`);
    await open().fold(scope, [gate]);
    const { at, wall, length, reason, boot, env } = JSON.parse(await readFile(file, 'utf8'));
    expect({ at, wall, length, reason, boot, env }).toMatchObject({
      at: 61_000,
      reason: 'refused',
      boot: clock.boot(),
      env: '',
    });
    await writeFile(file, JSON.stringify({ at, wall, length, reason, boot, env }));
    expect(open().peek(scope).gate).toEqual({ at, wall, length, reason });
  });

  test('have what another machine has told of, if the state is shared', async () => {
    const { open, know } = await rig();
    know({ ...emptyState(), boot: 'boot-1', gate: { at: 61_000, wall: 60_000, length: 60_000, reason: 'refused' } });
    await open('postgresql://db').look?.(scope);
    know(emptyState());
    expect(open().peek(scope).gate.at).toBe(61_000);
  });

  test('if they fail too, the command says so and waits itself', async () => {
    const { open, fail, lines, clock } = await rig('/proc/petstock');
    fail(full());
    await expect(open().fold(scope, [gate])).rejects.toThrow('full');
    expect(lines).toEqual([
      "The service asked to wait for 60 s, which can't be written down: the disk is full. petstock waits now. " +
        'Start no other command with this key meanwhile',
    ]);
    expect(clock.sleeps).toEqual([60_000]);
  });

  test('say nothing of a gate that they have, though the state told of it by a clock that drifts', async () => {
    const { open, fail, lines, clock, know } = await rig();
    fail(full());
    let at = 61_000;
    const drifting = { wall: 60_000, length: 60_000, reason: 'refused' } as const;
    know({
      ...{ ...emptyState(), boot: clock.boot() },
      get gate() {
        at += 1;
        return { ...drifting, at };
      },
    });
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
  ])('are ignored where they make no sense: %s', async (text) => {
    const { open, folder } = await rig();
    await mkdir(folder, { mode: 0o700, recursive: true });
    await writeFile(join(folder, `gate-${scope}.json`), text);
    expect((await open().fold(scope, [intent])).inFlight.size).toBe(1);
  });
});
