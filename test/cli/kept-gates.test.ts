import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { FailureError } from '../../src/shared/errors.ts';
import { openState } from '../../src/state/open-state.ts';
import type { Store } from '../../src/state/state-store.ts';
import { temporaryDatabase } from '../support/postgres.ts';
import { openShop, type Shop } from '../support/shop.ts';

/** The first test with PostgreSQL also starts the server. */
vi.setConfig({ testTimeout: 60_000 });

const away = 'postgresql://127.0.0.1:1/pets';

/** Opens a shop that has a state, and whose first GET gets a 429 with a wait of 120 s. */
async function shopWithState(env?: Record<string, string>): Promise<Shop> {
  const shop = await openShop({ faults: ['GET /inventory:first=1:status=429:retry-after=120'] });
  if (env !== undefined) await shop.exits('state init', 0, [], { env });
  await shop.exits('inventory set 1 5', 0, [], { env });
  return shop;
}

/** Gets the 429 whose wait is longer than the command may wait. */
const refuse = async (shop: Shop, env?: Record<string, string>) =>
  expect((await shop.exits('inventory list', 6, [], { env })).requests).toHaveLength(1);

const expectGate = async (shop: Shop, env?: Record<string, string>) =>
  expect((await shop.exits('inventory list --max-wait 0', 6, [], { env })).requests).toEqual([]);

/** Replaces the state folder by a file, so that nothing can be stored. */
async function blockFolder({ folders }: Shop): Promise<void> {
  await rename(folders.state, `${folders.state}.away`);
  await writeFile(folders.state, '');
}

async function bringBack({ folders }: Shop): Promise<void> {
  await rm(folders.state);
  await rename(`${folders.state}.away`, folders.state);
}

const fileOf = ({ folders }: Shop) => join(folders.state, 'state.db');
const nothing = async () => {};

async function damage(shop: Shop): Promise<void> {
  for (const end of ['-wal', '-shm']) await rm(`${fileOf(shop)}${end}`, { force: true });
  await writeFile(fileOf(shop), 'damaged '.repeat(1000));
}

async function remove(shop: Shop): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(`${fileOf(shop)}${end}`, { force: true });
}

test.each<[string, before: (shop: Shop) => Promise<void>, after: (shop: Shop) => Promise<void>]>([
  ['is removed', nothing, remove],
  ['is damaged', nothing, damage],
  ['was damaged before, so that reads go on alone', damage, nothing],
  ["can't be used, so that reads go on alone", blockFolder, nothing],
  ['becomes usable after the gate was set', blockFolder, bringBack],
])('keeps a gate of 120 s if the state %s', async (_how, before, after) => {
  const shop = await shopWithState();
  await before(shop);
  await refuse(shop);
  await after(shop);
  await expectGate(shop);
  shop.clock.advance(130_000);
  await shop.exits('inventory list', 0);
});

test('keeps a gate through a clock that is set back, for its own length at most', async () => {
  const shop = await shopWithState();
  await refuse(shop);
  shop.clock.step(-86_400_000);
  await expectGate(shop);
  shop.clock.advance(119_000);
  await expectGate(shop);
  shop.clock.advance(20_000);
  await shop.exits('inventory list', 0);
});

test.for(['list', 'set 1 6', 'set 1 6 --expect 5', 'apply - --yes'])(
  'ends inventory %s with 6 if the disk becomes full while a request gets a 429 with a long wait',
  async (command) => {
    const shop = await openShop({ faults: ['*:status=429:retry-after=120'] });
    let isFull = false;
    const full = new FailureError("The state can't be read or written (database or disk is full)");
    const opened: typeof openState = async (options) => {
      const state = await openState(options);
      return Object.assign(state, {
        transact: (
          (transact) =>
          (...args) =>
            isFull ? Promise.reject(full) : transact(...args)
        )(state.transact),
      } satisfies Pick<Store, 'transact'>);
    };
    const stdin = 'petId,quantity\n1,6\n';
    const onSent = () => {
      isFull = true;
    };
    const { requests } = await shop.exits(`inventory ${command}`, 6, [], { openState: opened, stdin, onSent });
    expect(requests).toHaveLength(1);
    isFull = false;
    await expectGate(shop);
  },
);

describe('a gate in a shared state', () => {
  test.each([
    ['away', 'there again'],
    ['there', 'away'],
  ])('is kept if it is set while the shared state is %s, even once the state is %s', async (first) => {
    const there = await temporaryDatabase();
    const [before, after] = first === 'away' ? [away, there] : [there, away];
    const shop = await shopWithState({ PETSTOCK_STATE_URL: there });
    await refuse(shop, { PETSTOCK_STATE_URL: before });
    await expectGate(shop, { PETSTOCK_STATE_URL: after });
  });

  test('holds for another machine', async () => {
    const env = { PETSTOCK_STATE_URL: await temporaryDatabase() };
    const shop = await shopWithState(env);
    await refuse(shop, env);
    const { folders } = shop;
    await rm(join(folders.state, 'gates.ndjson'));
    await expectGate(shop, env);
    await shop.exits('limits clear --yes', 0, 'Cleared', { env });
    await shop.exits('inventory list', 0, [], { env });
  });
});
