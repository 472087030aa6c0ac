import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { batchSize, itemsOf } from '../../src/inventory/item-columns.ts';
import type { InventoryItem } from '../../src/inventory/items.ts';
import { FailureError, UnavailableError } from '../../src/shared/errors.ts';
import { createClientRig, openClient } from './client-rig.ts';
import { type Answerer, answer, openServer, stock, turns, until } from './server.ts';

const count = 3 * batchSize;
const items = Array.from({ length: count }, (_, id) => ({ petId: BigInt(id), quantity: id % 9, status: 'sold' }));
const texts = items.map(
  ({ petId, quantity, status }) => `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`,
);
/** Two batches and a half, and then the list goes on. */
const begun = `[${texts.slice(0, 2.5 * batchSize).join(',')},`;
const rest = `${texts.slice(2.5 * batchSize).join(',')}]`;

/** The beginning of a list, and then what a test does with the connection. */
const begin =
  (then: Answerer, headers: Record<string, string> = {}): Answerer =>
  (response) => {
    response.writeHead(200, headers).write(begun, () => then(response));
  };
const leave: Answerer = () => {};

describe('a long list', () => {
  test('is there before it has ended, in batches', async () => {
    let end = () => {};
    const server = await openServer(
      begin((response) => {
        end = () => response.end(rest);
      }),
    );
    const { client } = createClientRig({ url: server.url });
    const lengths: number[] = [];
    const all: InventoryItem[] = [];
    for await (const batch of itemsOf(client.scanInventory())) {
      lengths.push(batch.length);
      all.push(...batch);
      if (lengths.length === 2) end();
    }
    expect(lengths).toEqual([batchSize, batchSize, batchSize]);
    expect(all).toEqual(items);
    expect(server.requests).toHaveLength(1);
  });

  test('that nobody reads to its end is dropped', async () => {
    const { server, client, clock } = await openClient([begin(leave)]);
    for await (const batch of itemsOf(client.scanInventory())) {
      expect(batch).toEqual(items.slice(0, batchSize));
      break;
    }
    await until(() => server.connections.open === 0);
    expect(server.requests).toHaveLength(1);
    expect(clock.sleeps).toEqual([]);
  });

  test('that a reader fails at is dropped, and the failure is the reader’s', async () => {
    const { server, client } = await openClient([begin(leave)]);
    const reading = async () => {
      for await (const _batch of client.scanInventory()) throw new Error('no room');
    };
    await expect(reading()).rejects.toThrow('no room');
    await until(() => server.connections.open === 0);
  });

  test('waits for its reader as long as that takes', async () => {
    const { client, clock } = await openClient([begin((response) => response.end(rest))]);
    let seen = 0;
    for await (const batch of client.scanInventory()) {
      seen += batch.length;
      clock.advance(3_600_000);
      clock.expireDeadlines();
      await turns(5);
    }
    expect(seen).toBe(count);
  });
});

describe('a list that breaks off after its first batch is not begun anew', () => {
  const bytes = begun.length.toLocaleString('en');
  const broken: [string, Answerer, typeof FailureError | typeof UnavailableError, string][] = [
    [
      'a body that is cut short',
      begin((response) => response.destroy(), { 'content-length': '9000000' }),
      UnavailableError,
      `The answer to GET /inventory broke off after ${bytes} bytes, so the list is not whole: other side closed`,
    ],
    [
      'a list without its end',
      begin((response) => response.end()),
      FailureError,
      `The answer to GET /inventory is not valid JSON: it ends in the middle, after ${bytes} bytes. The list is not whole`,
    ],
    [
      'no JSON',
      begin((response) => response.end('<b>,')),
      FailureError,
      `The answer to GET /inventory is not valid JSON at byte ${begun.length}. The list is not whole`,
    ],
    [
      'an item that makes no sense',
      begin((response) => response.end('{"petId":1}]')),
      FailureError,
      `"quantity" in item ${2.5 * batchSize + 1} of the answer is missing. The list is not whole`,
    ],
    [
      'a gzip that is cut short',
      answer(200, gzipSync(`${begun}${rest}`).subarray(0, -9), { 'content-encoding': 'gzip' }),
      UnavailableError,
      'so the list is not whole: unexpected end of file',
    ],
  ];

  test.each(broken)('%s', async (_what, answerer, type, told) => {
    const { server, client, clock } = await openClient([answerer, answer(200, stock)]);
    let seen = 0;
    const reading = async () => {
      for await (const batch of client.scanInventory()) seen += batch.length;
    };
    const error = await reading().catch((reason) => reason);
    expect(error).toBeInstanceOf(type);
    expect(error.message).toContain(told);
    expect(seen).toBeGreaterThanOrEqual(2 * batchSize);
    expect(server.requests).toHaveLength(1);
    expect(clock.sleeps).toEqual([]);
  });

  test('a reset', async () => {
    // A reset throws away what the client has not read yet, so it has to come behind that.
    let cut = () => {};
    const server = await openServer(
      begin((response) => {
        cut = () => response.socket?.resetAndDestroy();
      }),
    );
    const { client } = createClientRig({ url: server.url });
    let seen = 0;
    const reading = async () => {
      for await (const batch of client.scanInventory()) {
        seen += batch.length;
        if (seen === 2 * batchSize) cut();
      }
    };
    const error = await reading().catch((reason) => reason);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toMatch(/broke off after [0-9,]+ bytes, so the list is not whole: /);
    expect(server.requests).toHaveLength(1);
  });

  test('the time-out', async () => {
    const { server, client, clock } = await openClient([begin(leave)]);
    let seen = 0;
    const reading = (async () => {
      for await (const batch of client.scanInventory()) seen += batch.length;
    })().catch((reason) => reason);
    await until(() => seen === 2 * batchSize);
    await turns(20);
    clock.expireDeadlines();
    expect((await reading).message).toContain('so the list is not whole: no answer within 30 s');
    expect(server.requests).toHaveLength(1);
    await until(() => server.connections.open === 0);
  });

  test('an interruption', async () => {
    const server = await openServer(begin(leave));
    const controller = new AbortController();
    const { client } = createClientRig({ url: server.url, interrupted: controller.signal });
    const reason = new Error('Ctrl-C');
    let seen = 0;
    const reading = (async () => {
      for await (const batch of client.scanInventory()) seen += batch.length;
    })().catch((error) => error);
    await until(() => seen === 2 * batchSize);
    controller.abort(reason);
    expect(await reading).toBe(reason);
    await until(() => server.connections.open === 0);
  });
});

test('a list whose first batch has not come is begun anew', async () => {
  const broken: Answerer = (response) => {
    response.writeHead(200).write(begun.slice(0, 10_000), () => response.socket?.resetAndDestroy());
  };
  const server = await openServer(broken, answer(200, stock));
  expect(await createClientRig({ url: server.url }).list()).toHaveLength(1);
  expect(server.requests).toHaveLength(2);
});
