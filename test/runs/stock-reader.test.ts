import { expect, test } from 'vitest';
import type { RecentWrite } from '../../src/inventory/run-records.ts';
import type { RunContext } from '../../src/runs/run-context.ts';
import { StockReader } from '../../src/runs/stock-reader.ts';
import { createTestClock } from '../support/clock.ts';

const write = (sequence: number, before: number | undefined, quantity: number, result = 'applied') =>
  ({ petId: 4n, sequence, before, quantity, result }) as RecentWrite;
const lost = (sequence: number, before: number | undefined, quantity: number) =>
  write(sequence, before, quantity, 'unknown');

/**
 * Reads pet 4, whose stock is always `found`, after these writes, with a read version of 10.
 * @param until when no request of a stopped command can arrive any more
 */
async function readAfter(
  writes: readonly RecentWrite[],
  found: number,
  env = 'staging',
  petIds = new Set([4n]),
  until = 0,
) {
  const clock = createTestClock();
  const delays: string[] = [];
  let reads = 0;
  const context = {
    clock,
    onDelay: (text: string) => void delays.push(text),
    serviceName: 'shop',
    target: { env },
    state: {
      pets: {
        beginRead: async () => ({ readVersion: { sequence: 10, at: 0 }, writes }),
        inFlightUntil: async () => until,
      },
    },
    client: {
      async *scanInventory() {
        reads += 1;
        yield [{ petId: 4n, quantity: found, status: 'sold' }];
      },
    },
  } as unknown as RunContext;
  const { quantities } = await new StockReader(context).readAfterInFlight(petIds);
  return { reads, delays, pauses: clock.sleeps, stock: quantities.get(4n), outdated: quantities.outdated?.get(4n) };
}

const current = { reads: 1, delays: [], pauses: [], outdated: undefined };
const repeated = { reads: 5, pauses: [500, 1000, 2000, 4000] };

test.each<[string, RecentWrite[], object]>([
  ['without any write', [], current],
  ['that was written last', [write(1, 7, 5)], current],
  ['that was never recorded', [write(1, 6, 7)], current],
  ['before a later write than the read version', [write(11, 5, 7)], current],
  [
    'that a write has replaced',
    [write(10, 5, 7)],
    { ...repeated, stock: undefined, outdated: { found: 5, written: 7 } },
  ],
  [
    'that a lost write may have left before another write',
    [write(1, 4, 5), lost(2, undefined, 5), write(3, 6, 7)],
    { ...repeated, stock: undefined, outdated: { found: 5, written: 7 } },
  ],
  ['that a lost write may have left since', [write(1, 5, 7), lost(2, 7, 5)], { ...repeated, stock: 5 }],
  [
    'that one of several lost writes may have left since',
    [write(1, 5, 7), lost(2, undefined, 5), lost(3, undefined, 9)],
    { ...repeated, stock: 5, outdated: undefined },
  ],
  [
    'that no lost write may have left since',
    [write(1, 5, 7), lost(2, undefined, 9)],
    { ...repeated, stock: undefined, outdated: { found: 5, written: 7 } },
  ],
])('decides whether to reread a stock of 5 %s', async (_what, writes, expected) => {
  expect(await readAfter(writes, 5)).toMatchObject(expected);
});

test('reads the stock once in a sandbox, and not at all if no pet is requested', async () => {
  expect(await readAfter([write(1, 5, 7)], 5, 'sandbox')).toEqual({ ...current, stock: 5 });
  expect(await readAfter([], 5, 'staging', new Set())).toMatchObject({ reads: 0, stock: undefined });
});

test('waits before a plan until no request of a stopped command can arrive any more', async () => {
  const delays = ['A request of a stopped command may still reach the service; reading the stock in 7 s'];
  expect(await readAfter([], 5, 'staging', new Set([4n]), 7200)).toMatchObject({ reads: 1, delays, pauses: [6200] });
});
