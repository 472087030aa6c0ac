import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { InventoryItem } from '../../src/inventory/items.ts';
import type { TestClock } from '../support/clock.ts';
import { type ClientRigOptions, openClient } from './client-rig.ts';
import { type Answerer, answer, stock, turns, until } from './server.ts';

/** Many items, of which a part of the list that is read at once has fewer. */
const many = 4096;
const items = Array.from({ length: 3 * many }, (_, id) => ({
  petId: BigInt(id),
  quantity: id % 9,
  status: 'sold',
}));
const texts = items.map(
  ({ petId, quantity, status }) => `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`,
);
/** The beginning of a list that continues. */
const begun = `[${texts.slice(0, 2.5 * many).join(',')},`;
const rest = `${texts.slice(2.5 * many).join(',')}]`;

/** Returns an answerer that sends the beginning of a list, and then calls `then`. */
const begin =
  (then: Answerer, headers: Record<string, string> = {}): Answerer =>
  (response) => {
    response.writeHead(200, headers).write(begun, () => then(response));
  };
const leave: Answerer = () => {};

/** Opens a client that reads a list and calls `onBatch` with the number of items so far. */
async function openReader(
  first: Answerer,
  onBatch: (seen: number) => unknown = () => {},
  options?: Partial<ClientRigOptions>,
) {
  const rig = await openClient([first, answer(200, stock)], options);
  const read = async () => {
    let seen = 0;
    for await (const batch of rig.client.scanInventory()) {
      seen += batch.length;
      await onBatch(seen);
    }
  };
  return { ...rig, error: read().catch((reason) => reason) };
}

describe('a long inventory list', () => {
  test('yields batches of a list before the list has ended', async () => {
    let end = () => {};
    const { server, client } = await openClient([
      begin((response) => {
        end = () => response.end(rest);
      }),
    ]);
    const batches: InventoryItem[][] = [];
    for await (const batch of client.scanInventory()) {
      if (batches.push([...batch]) === 2) end();
    }
    expect(batches.length).toBeGreaterThan(2);
    expect(batches.flat()).toEqual(items);
    expect(server.requests).toHaveLength(1);
  });

  test('closes the connection if the reader of a list stops early', async () => {
    const { server, client, clock } = await openClient([begin(leave)]);
    for await (const batch of client.scanInventory()) {
      expect(batch).toEqual(items.slice(0, batch.length));
      break;
    }
    await until(() => server.connections.open === 0);
    expect(server.requests).toHaveLength(1);
    expect(clock.sleeps).toEqual([]);
  });

  test("closes the connection if the reader of a list fails, and rejects with the reader's error", async () => {
    const failure = new Error('no room');
    const { server, error } = await openReader(begin(leave), () => Promise.reject(failure));
    expect(await error).toBe(failure);
    await until(() => server.connections.open === 0);
  });

  test('waits for a slow reader of a list, even past the time-out', async () => {
    const { client, clock } = await openClient([begin((response) => response.end(rest))]);
    let seen = 0;
    for await (const batch of client.scanInventory()) {
      seen += batch.length;
      clock.advance(3_600_000);
      clock.expireDeadlines();
      await turns(5);
    }
    expect(seen).toBe(items.length);
  });
});

describe('a list that breaks off after its first batch', () => {
  const bytes = begun.length.toLocaleString('en');

  async function expectBroken(first: Answerer, expected: object) {
    let most = 0;
    const { server, clock, error } = await openReader(first, (seen) => {
      most = seen;
    });
    expect(await error).toMatchObject(expected);
    expect(most).toBeGreaterThanOrEqual(2 * many);
    expect(server.requests).toHaveLength(1);
    expect(clock.sleeps).toEqual([]);
  }

  test.each([
    ['a list that ends in the middle', '', `is not valid JSON: it is cut off after ${bytes} bytes`],
    ['text that is not JSON', '<b>,', `is not valid JSON at byte ${begun.length}`],
    [
      'an item without a quantity',
      '{"petId":1}]',
      `is not valid: "quantity" in item ${2.5 * many + 1} of the response is missing`,
    ],
  ])('does not request the list again after %s', async (_what, end, fault) => {
    const message = `The response to GET /inventory ${fault}. The list is incomplete`;
    await expectBroken(
      begin((response) => response.end(end)),
      { name: 'FailureError', message },
    );
  });

  test('does not request the list again after a body that is cut short', async () => {
    const message = `The response to GET /inventory broke off, so the list is incomplete: other side closed`;
    const cut = begin((response) => response.destroy(), { 'content-length': '9000000' });
    await expectBroken(cut, { name: 'UnavailableError', message });
  });

  test('does not request the list again after a gzip that is cut short', async () => {
    const cut = answer(200, gzipSync(`${begun}${rest}`).subarray(0, -9), { 'content-encoding': 'gzip' });
    const message = expect.stringContaining('so the list is incomplete: unexpected end of file');
    await expectBroken(cut, { name: 'UnavailableError', message });
  });

  test('does not request the list again after a reset', async () => {
    // A reset discards data that the client has not read yet, so the connection is reset after that.
    let cut = () => {};
    const first = begin((response) => {
      cut = () => response.socket?.resetAndDestroy();
    });
    const { server, error } = await openReader(first, (seen) => {
      if (seen >= 2 * many) cut();
    });
    const message = expect.stringMatching(/broke off, so the list is incomplete: /);
    expect(await error).toMatchObject({ name: 'UnavailableError', message });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    [
      'the time-out',
      (clock: TestClock) => clock.expireDeadlines(),
      /so the list is incomplete: it took longer than 30 s/,
    ],
    ['an interruption', (_clock: TestClock, ctrlC: AbortController) => ctrlC.abort(new Error('Ctrl-C')), /^Ctrl-C$/],
  ])('does not request the list again after %s', async (_what, end, message) => {
    const controller = new AbortController();
    let most = 0;
    const onBatch = (seen: number) => {
      most = seen;
    };
    const { server, clock, error } = await openReader(begin(leave), onBatch, { interrupted: controller.signal });
    await until(() => most >= 2 * many);
    await turns(20);
    end(clock, controller);
    expect((await error).message).toMatch(message);
    expect(server.requests).toHaveLength(1);
    await until(() => server.connections.open === 0);
  });
});

test('requests a list again if it breaks off before its first batch', async () => {
  const broken: Answerer = (response) => {
    response.writeHead(200).write(begun.slice(0, 10_000), () => response.socket?.resetAndDestroy());
  };
  const { server, list } = await openClient([broken, answer(200, stock)]);
  expect(await list()).toHaveLength(1);
  expect(server.requests).toHaveLength(2);
});
