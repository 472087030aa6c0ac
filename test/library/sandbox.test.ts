import { expect, test } from 'vitest';
import { AuthError, RateLimitedError, startSandbox, UsageError } from '../../src/library/index.ts';

test('adds and removes pets of a sandbox, and restores its snapshot', async () => {
  const sandbox = await startSandbox({ ids: 'small', pets: 3 });
  const client = sandbox.client();
  const set = await sandbox.setPet(7, { quantity: 3, status: 'pending' });
  expect(set).toEqual({ petId: 7n, quantity: 3, status: 'pending' });
  const before = await sandbox.snapshot();
  await client.updateInventory(7, 9);
  expect(await sandbox.pet('7')).toMatchObject({ quantity: 9 });
  await sandbox.restore(before);
  expect(await sandbox.pet(7)).toMatchObject({ quantity: 3 });
  expect([await sandbox.removePet(7), await sandbox.removePet(7)]).toEqual([true, false]);
  expect(await sandbox.pet(7)).toBeUndefined();
  await expect(sandbox.setPet(8, { status: 'sold' })).rejects.toBeInstanceOf(UsageError);
  await sandbox.importStock([{ petId: 1n, quantity: 5, status: 'available' }]);
  for await (const items of client.listInventory()) expect(items).toHaveLength(1);
  await sandbox.reset();
  for await (const items of client.listInventory()) expect(items).toHaveLength(3);
  await client.close();
  await sandbox.close();
});

test("advances the clock of a sandbox's clients, so that a wait for the next minute ends", async () => {
  const sandbox = await startSandbox({ limits: { minute: 1, day: 100 } });
  const waits: number[] = [];
  const client = sandbox.client({
    onWait: (ms) => {
      waits.push(ms);
      sandbox.advanceClock(Math.ceil(ms / 1000));
    },
  });
  for (let call = 0; call < 3; call += 1) await client.probe();
  expect(waits).toHaveLength(2);
  expect(sandbox.requests().map(({ status }) => status)).toEqual([200, 200, 200]);
  await client.close();
  await sandbox.close();
});

test('refuses a banned key until the ban is lifted', async () => {
  const sandbox = await startSandbox();
  await sandbox.ban(3600);
  const client = sandbox.client({ maxWait: 0 });
  await expect(client.probe()).rejects.toSatisfy((e) => e instanceof RateLimitedError || e instanceof AuthError);
  await sandbox.ban(null);
  await sandbox.client().probe();
  await client.close();
  await sandbox.close();
});
