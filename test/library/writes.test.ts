import process from 'node:process';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type LimitState, UsageError } from '../../src/library/index.ts';
import { createTestClock } from '../support/clock.ts';
import { type OwnOptions, open as openWith } from './rig.ts';

const open = (own: OwnOptions = {}, limits = { minute: 1_000_000, day: 1_000_000 }) => openWith(own, { limits });

test('adds up ten simultaneous adjusts of one client', async () => {
  // A waiting adjust would advance a test clock, so the client uses the real one.
  const { client } = await open({ clock: undefined });
  const items = await Promise.all(Array.from({ length: 10 }, () => client.adjust(4, 1)));
  expect(items.map(({ before = 0, quantity }) => quantity - before)).toEqual(Array(10).fill(1));
  expect(new Set(items.map(({ run }) => run)).size).toBe(10);
  expect((await client.adjust(4n, '-10')).quantity).toBe(39);
});

test('adds up the deltas of ten simultaneous applies', async () => {
  const { client } = await open();
  const changes = [1, 2].map((delta) => ({ petId: 3 + delta, delta }));
  const reports = await Promise.all(Array.from({ length: 10 }, () => client.apply(changes)));
  expect(reports.map(({ error, counts }) => error ?? counts.applied)).toEqual(Array(10).fill(2));
  const stock = new Map<bigint, number>();
  for await (const items of client.listInventory()) for (const { petId, quantity } of items) stock.set(petId, quantity);
  expect([stock.get(4n), stock.get(5n)]).toEqual([49, 21]);
});

test('records updateInventory as a run that the undo of an earlier run does not overwrite', async () => {
  const { shop, client } = await open();
  await shop.run('inventory adjust 4 +1');
  const written = await client.updateInventory(4, 12);
  expect(written).toEqual({ petId: 4n, quantity: 12, status: 'available', run: expect.any(String) });
  const [run] = await shop.json('history list --json');
  expect(run).toMatchObject({ run: written.run, command: 'inventory set', counts: { applied: 1 } });
  const [, earlier] = await shop.json('history list --json');
  const undone = await shop.run(`undo ${earlier.run} --yes`);
  expect(undone.code).toBe(7);
  expect(undone.stderr).toContain(`run ${written.run} (inventory set) has written the stock since`);
});

test('reports the run of an interrupted apply, and resumes that run', async () => {
  const { shop, client } = await open();
  const controller = new AbortController();
  const changes = Array.from({ length: 20 }, (_, index) => ({ petId: index + 1, delta: 1 }));
  const applying = client.apply(changes, { signal: controller.signal, concurrency: 1 });
  while (!shop.service.journal().some(({ method }) => method === 'PATCH')) await new Promise(setImmediate);
  controller.abort();
  const { error, run = '' } = await applying;
  expect(error).toMatchObject({ name: 'InterruptedError', run, hint: `client.resume('${run}')`, kind: 'interrupted' });
  const resumed = await client.resume(run.slice(-4));
  expect(resumed).toMatchObject({ run, error: undefined, counts: { applied: 20 } });
  await expect(client.resume('zzzz')).rejects.toThrow('There is no run');
});

test('returns the history, its rows and the limits', async () => {
  const told: LimitState[] = [];
  // The client's clock is an hour behind the service's.
  const clock = createTestClock();
  clock.step(-3_600_000);
  const { client } = await open({ clock, onLimit: (state) => told.push(state) }, { minute: 100, day: 1000 });
  expect(await client.limits()).toEqual([]);
  const { run } = await client.adjust(4, 2);
  await client.apply([{ petId: 5, quantity: 9, reason: 'count' }]);
  const runs = [];
  for await (const one of client.history({ petId: '4' })) runs.push(one);
  expect(runs).toMatchObject([{ run, command: 'inventory adjust', state: 'done', counts: { applied: 1 } }]);
  const rows = [];
  for await (const row of runs[0]?.rows() ?? []) rows.push(row);
  expect(rows).toMatchObject([{ petId: 4n, before: 39, after: 41, delta: 2, result: 'applied', at: expect.any(Date) }]);
  for await (const one of client.history({ limit: 1 })) expect(one.reason).toBe('count');
  const [minute] = await client.limits();
  expect(minute).toMatchObject({ limit: 100, resetAt: expect.any(Date) });
  expect(told.at(-1)).toEqual(minute);
});

test('reports an error of a listener as a process warning, and still returns the written item', async () => {
  const warned: string[] = [];
  const listen = ({ message }: Error) => warned.push(message);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  const failing = (what: string) => () => {
    throw new Error(`a mistake of ${what}`);
  };
  const { shop, client } = await open({ onLimit: failing('onLimit'), onWait: failing('onWait') });
  shop.service.setFaults(['PATCH /inventory/4:status=429:retry-after=1:first=1']);
  await expect(client.updateInventory(4, 12)).resolves.toMatchObject({ quantity: 12 });
  await vi.waitFor(() => expect(new Set(warned)).toEqual(new Set(['a mistake of onLimit', 'a mistake of onWait'])));
});

test('reports in whole sentences that a 429 stopped a write', async () => {
  const { shop, client } = await open({ maxWait: 0 });
  shop.service.setFaults(['PATCH /inventory/4:status=429:retry-after=3600']);
  await expect(client.updateInventory(4, 5)).rejects.toThrow(
    /^The service returned 429\. Nothing was written: This error was requested by a fault\.$/,
  );
});

test('sets one pet without a state, and refuses to adjust', async () => {
  const { client } = await open({ stateFolder: undefined });
  expect(await client.updateInventory(4, 12)).toEqual({ petId: 4n, quantity: 12, status: 'available' });
  await expect(client.adjust(4, 1)).rejects.toBeInstanceOf(UsageError);
  await client[Symbol.asyncDispose]();
  await expect(client.probe()).rejects.toThrow('closed');
});

test('returns payloads as plain data with every digit of each id', async () => {
  const { client } = await open();
  const { value } = await client.getPet(9007199254740993n);
  expect(value).toMatchObject({ petId: 9007199254740993n });
  const asText = await client.getPet(9007199254740993n, { ids: 'string' });
  expect(asText.value).toMatchObject({ petId: '9007199254740993' });
  const answer = await client.request('GET', '/inventory', undefined, { ids: 'string' });
  expect(answer.status).toBe(200);
  expect(answer.value).toContainEqual(expect.objectContaining({ petId: '4' }));
  expect((await client.request('GET', '/nowhere')).status).toBe(404);
});
