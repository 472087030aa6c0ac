import { describe, expect, test } from 'vitest';
import { type BulkRow, unclear } from '../../src/inventory/change.ts';
import type { LaterWrite } from '../../src/inventory/run-records.ts';
import { runErrorOf } from '../../src/runs/run-error.ts';
import { ConflictError, FailureError, InterruptedError, UnavailableError } from '../../src/shared/errors.ts';
import type { Grant } from '../../src/state/intents-and-outcomes.ts';
import type { RowWrite, WriteOptions, WriteProgress } from '../../src/writes/row-write.ts';
import { writeRows } from '../../src/writes/write-rows.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { type Behaviour, behaviours, isFinal, rowsOf, simulatedShop } from './simulated-shop.ts';

/** The number of cases. A long run: `PETSTOCK_RUNS=20000`. */
const numRuns = Number(process.env.PETSTOCK_RUNS ?? 100);
const scripts = fc.array(
  fc.record({ requests: fc.array(fc.constantFrom(...behaviours), { maxLength: 4 }), isSold: fc.boolean() }),
  { minLength: 1, maxLength: 10 },
);

type Shop = ReturnType<typeof simulatedShop>;

property(
  'never overwrites a stock that it has not read, and reports what was written',
  [scripts, fc.integer({ min: 1, max: 8 }), fc.boolean()],
  { numRuns, testTimeout: 5000 + numRuns * 20 },
  async (script, concurrency, failFast) => {
    const rows = rowsOf(script.length);
    const requests = new Map(script.map(({ requests }, index) => [index + 1, requests]));
    const sold = new Set(script.flatMap(({ isSold }, index) => (isSold ? [index + 1] : [])));
    const shop = simulatedShop(rows, { requests, sold });
    const progress = await writeRows(rows, { ...shop.options, concurrency, failFast });
    expectNothingLate(rows, progress, shop);
    expect([shop.faults, shop.held.size]).toEqual([[], 0]);
    const { stoppedBy: cause, settled } = progress;
    if (cause === undefined && !failFast) expect(settled.size).toBe(rows.length);
    for (const { row } of rows) expectTruth(row, progress, shop);
    const error = runErrorOf({ report: reportOf(rows, progress), progress, cause, target: { env: 'staging' } });
    if (error?.message.startsWith('Nothing was written')) expect([...shop.commits.keys()]).toEqual([]);
  },
);

/** Checks that no late request of a row whose outcome is known is carried out. */
function expectNothingLate(rows: readonly RowWrite[], { unknown }: WriteProgress, { commits, letArrive }: Shop): void {
  const known = rows.filter(({ row }) => !unknown.has(row)).map(({ row }) => row);
  const before = known.map((row) => commits.get(row));
  letArrive();
  expect(known.map((row) => commits.get(row))).toEqual(before);
}

/** Checks that the result of a row is what the service has done. */
function expectTruth(row: number, { settled, unknown, notWritten }: WriteProgress, { commits, outcomes }: Shop): void {
  const result = settled.get(row)?.result;
  const isWritten = result === 'applied' || result === 'differs';
  const isOpen = unknown.has(row) || settled.get(row)?.error?.code === unclear;
  const least = isWritten ? 1 : 0;
  const most = isWritten || (isOpen && result !== 'failed') ? 1 : 0;
  expect([least, most]).toContain(commits.get(row) ?? 0);
  if (notWritten.has(row)) expect([commits.get(row) ?? 0, settled.has(row), isOpen]).toEqual([0, false, false]);
  const finals = outcomes.filter((outcome) => outcome.row === row && isFinal(outcome));
  expect(finals.map((outcome) => outcome.result)).toEqual(result === undefined ? [] : [result]);
}

function reportOf(rows: readonly RowWrite[], { settled, unknown, notWritten }: WriteProgress) {
  const reported = rows.map(({ row, petId, before, after }): BulkRow => {
    const same = { line: row, petId, before, after, reason: undefined, ref: undefined };
    const outcome = settled.get(row);
    if (outcome !== undefined) return { ...same, ...outcome };
    if (unknown.has(row)) return { ...same, result: 'unknown' };
    return { ...same, result: notWritten.has(row) ? 'failed' : 'notAttempted' };
  });
  return { run: '20260115T120020Z-k3x9', env: 'staging', dryRun: false, rows: reported };
}

/** Writes this many rows in a new shop, with these options instead of the shop's. */
async function written(count: number, optionsOf: (shop: Shop) => Partial<WriteOptions>) {
  const rows = rowsOf(count);
  const shop = simulatedShop(rows);
  return { shop, ...(await writeRows(rows, { ...shop.options, ...optionsOf(shop) })) };
}

describe('writeRows of a plain set', () => {
  const plain: RowWrite[] = [{ row: 1, petId: 1n, before: undefined, after: 12 }];

  test.each<[Behaviour, number]>([
    ['lost', 2],
    ['503', 2],
    ['committed, lost', 1],
    ['committed, 500', 1],
    ['committed, 206', 1],
    // The row is not sent again while its first request may still arrive.
    ['late', 1],
  ])('applies a plain set whose first request ends with "%s" (requests: %i)', async (behaviour, times) => {
    const shop = simulatedShop(plain, { requests: new Map([[1, [behaviour]]]) });
    const { settled } = await writeRows(plain, shop.options);
    expect(settled.get(1)).toEqual({ result: 'applied' });
    expect(shop.stock.get(1n)).toBe(12);
    expect([shop.sent, shop.commits.get(1)]).toEqual([Array(times).fill(1), 1]);
  });

  test.each(['400', '401'] as const)(
    'leaves a plain set unknown if its first request was lost and the next one gets a %s',
    async (refusal) => {
      const shop = simulatedShop(plain, { requests: new Map([[1, ['lost', refusal]]]) });
      const { unknown, settled } = await writeRows(plain, shop.options);
      expect([...unknown.keys()]).toEqual([1]);
      expect(settled.size).toBe(0);
      expect(shop.outcomes.at(-1)?.result).toBe('unknown');
    },
  );
});

test('sends every row with failFast, without a wait, if none fails', async () => {
  const { shop, settled, stoppedBy } = await written(30, () => ({ failFast: true }));
  expect([settled.size, stoppedBy, shop.clock.monotonic()]).toEqual([30, undefined, 1000]);
});

const lateDelays = [
  'Pet 1: reset; reading the stock (1)',
  'An unanswered request may still reach the service; checking again in 31 s (undefined)',
];

test.each<[string, Behaviour[][], string[]]>([
  ['one response is lost', [['committed, lost']], ['Pet 1: reset; reading the stock (1)']],
  [
    'two responses are lost',
    [['committed, lost'], ['committed, lost']],
    ['Pet 2 and 1 more: reset; reading the stock (1)'],
  ],
  ['a request may still arrive', [['late']], lateDelays],
  ['the limit is exceeded', [['429']], ['Pet 1: the service returned 429; trying again (1 of 4) (1)']],
  ['another row is applied meanwhile', [['429'], []], ['Pet 1: the service returned 429; trying again (1)']],
  [
    'three connections fail',
    [['unreachable', 'unreachable', 'unreachable']],
    [1, 2, 3].map((n) => `No connection to the service; trying again (${n} of 4) (${n})`),
  ],
])('announces why it pauses if %s', async (_when, requests, expected) => {
  const rows = rowsOf(requests.length);
  const shop = simulatedShop(rows, { requests: new Map(requests.map((one, index) => [index + 1, one])) });
  const delays: string[] = [];
  await writeRows(rows, { ...shop.options, onDelay: (text, attempt) => void delays.push(`${text} (${attempt})`) });
  expect(delays).toEqual(expected);
});

test('sends a row only after another intent if its lease ended after the first', async () => {
  let intents = 0;
  const { shop, settled } = await written(1, ({ options: { log } }) => ({
    log: {
      ...log,
      intend: (...given) => {
        intents += 1;
        return log.intend(...given);
      },
    },
    presence: {
      get holdsLease() {
        return intents > 1;
      },
    },
  }));
  expect([intents, shop.sent, settled.get(1)?.result]).toEqual([2, [1], 'applied']);
});

describe("writeRows of a run that can't continue", () => {
  test.each([
    ['after five failed tries of each row', 4, { status: 503 }, 20, 20],
    ["before it has tried every row if the service can't be reached", 500, { notCarriedOut: true }, 1, 59],
  ])('stops %s', async (_when, count, details, least, most) => {
    const down = new UnavailableError('down', details);
    let requests = 0;
    const updateInventory = async () => {
      requests += 1;
      throw down;
    };
    const { stoppedBy, settled } = await written(count, () => ({ client: { updateInventory } }));
    expect({ stoppedBy, settled: settled.size }).toEqual({ stoppedBy: down, settled: 0 });
    expect(requests).toBeGreaterThanOrEqual(least);
    expect(requests).toBeLessThanOrEqual(most);
  });

  test('names the pet whose failure ended the run, not a pet that failed later', async () => {
    const delays: string[] = [];
    const moved = new FailureError('moved', { status: 307 });
    await written(2, ({ clock }) => ({
      onDelay: (text) => void delays.push(text),
      client: {
        updateInventory: async (petId) => {
          if (petId === 1n) throw moved;
          await clock.sleep(10);
          throw new UnavailableError('down', { status: 503 });
        },
      },
    }));
    expect(delays).toEqual([expect.stringMatching(/^Pet 1: .*307.*; reading the stock$/)]);
  });

  test("stops sending if the history can't be written", async () => {
    const full = new FailureError('disk full');
    const { shop, stoppedBy } = await written(30, ({ options: { log } }) => ({
      log: {
        ...log,
        intend: (intents, ...rest) =>
          intents.some(({ row }) => row > 12) ? Promise.reject(full) : log.intend(intents, ...rest),
      },
    }));
    expect(stoppedBy).toBe(full);
    expect(Math.max(...shop.sent)).toBeLessThanOrEqual(12);
  });

  test('stops on Ctrl-C before anything is sent', async () => {
    const interrupted = AbortSignal.abort(new InterruptedError('Interrupted'));
    const { shop, stoppedBy } = await written(3, () => ({ interrupted }));
    expect(stoppedBy).toBeInstanceOf(InterruptedError);
    expect(shop.sent).toEqual([]);
  });
});

describe('a row whose pet another command has', () => {
  const run = '20260115T120020Z-aaaa';
  const free: Grant = { kind: 'granted' };
  const busy = (by?: string): Grant => ({ kind: 'busy', run: by, until: undefined });

  test.each<[string, (tries: number) => Grant, string, number[], string | undefined]>([
    [
      'reports a conflict that names the run if another run has written the pet',
      () => ({ kind: 'superseded', run, command: 'inventory adjust' }),
      'conflict',
      [1, 3],
      `${run} (inventory adjust)`,
    ],
    [
      'sends a row later if its pet is locked for a moment',
      (tries) => (tries < 4 ? busy() : free),
      'applied',
      [1, 3, 2],
      undefined,
    ],
  ])('%s', async (_what, grant, result, sent, message) => {
    const { shop, settled } = await written(3, grantingTwo(grant));
    expect([1, 2, 3].map((row) => settled.get(row)?.result)).toEqual(['applied', result, 'applied']);
    if (message !== undefined) expect(settled.get(2)?.error?.message).toContain(message);
    expect(shop.sent).toEqual(sent);
  });

  test('announces once that requests of another run may still arrive', async () => {
    const delays: string[] = [];
    await written(3, (shop) => {
      const until = (tries: number) => (tries < 5 ? shop.clock.monotonic() + (tries % 2 ? 5000 : 2000) : undefined);
      const grant = (tries: number): Grant => (tries < 7 ? { kind: 'busy', run, until: until(tries) } : free);
      return { ...grantingTwo(grant, 3n)(shop), onDelay: (text) => void delays.push(text) };
    });
    expect(delays).toEqual([expect.stringMatching(/^A request of run .* continuing in 5 s$/)]);
  });

  test('does not attempt a row whose pet stays locked, and suggests a resume', async () => {
    const { shop, ...progress } = await written(
      3,
      grantingTwo(() => busy(run)),
    );
    const { settled, stoppedBy: cause, everUnanswered } = progress;
    expect([1, 2, 3].map((row) => settled.get(row)?.result)).toEqual(['applied', undefined, 'applied']);
    expect({ cause, unanswered: [...everUnanswered] }).toEqual({ cause: expect.any(ConflictError), unanswered: [] });
    expect(shop.outcomes.filter(({ row }) => row === 2)).toEqual([]);
    const report = reportOf(rowsOf(3), progress);
    expect(runErrorOf({ report, progress, cause, target: { env: 'staging' } })).toMatchObject({
      kind: 'partial',
      message: `2 of 3 changes were written; 1 was not attempted: run ${run} is still writing pet 2`,
      hint: `petstock inventory apply --resume ${report.run} --env staging`,
    });
  });

  test('does not give up on a pet while a request of another run may still arrive', async () => {
    const { settled, stoppedBy } = await written(3, (shop) => {
      const until = () => shop.clock.monotonic() + 100_000;
      return grantingTwo((tries) => (tries < 4 ? { kind: 'busy', run, until: until() } : free))(shop);
    });
    expect([stoppedBy, settled.get(2)?.result]).toEqual([undefined, 'applied']);
  });

  test('does not give up on a locked pet because of waits for the rate limit', async () => {
    const { settled, stoppedBy } = await written(3, (shop) => ({
      ...grantingTwo((tries) => (tries < 4 ? busy(run) : free))(shop),
      governor: {
        admitSeveral: async (...args) => {
          await shop.clock.sleep(60_000);
          return shop.options.governor.admitSeveral(...args);
        },
      },
    }));
    expect([stoppedBy, settled.get(2)?.result]).toEqual([undefined, 'applied']);
  });
});

/** Decides, with `grant`, on every intent of pet 2 and of another pet. */
function grantingTwo(grant: (tries: number) => Grant, other = 2n) {
  let tries = 0;
  return ({ options: { log } }: Shop): Partial<WriteOptions> => ({
    log: {
      ...log,
      intend: async (intents, ...rest) => {
        const grants = await log.intend(intents, ...rest);
        const isChosen = (petId?: bigint) => petId === 2n || petId === other;
        return grants.map((granted, index) => (isChosen(intents[index]?.petId) ? grant(++tries) : granted));
      },
    },
  });
}

/** Another command changes the stock of the last pet during a wait for the limit. */
const afterLongWait = ({ options: { governor }, sent, clock, stock }: Shop): WriteOptions['governor'] => ({
  admitSeveral: async (...args) => {
    if (sent.length >= 5 && clock.sleeps.length === 0) {
      await clock.sleep(6000);
      stock.set(40n, 3);
    }
    return governor.admitSeveral(...args);
  },
});

const afterSecondWait = ({ options: { governor }, clock, stock }: Shop): WriteOptions['governor'] => {
  let waits = 0;
  return {
    admitSeveral: async (wanted, ...rest) => {
      waits += 1;
      if (waits > 2) return governor.admitSeveral(wanted, ...rest);
      await clock.sleep(60_000);
      if (waits === 2) stock.set(40n, 3);
      return governor.admitSeveral({ ...wanted, max: 1 }, ...rest);
    },
  };
};

test.each([
  ['during a long wait for the limit', afterLongWait],
  ['during a second wait that admitted one row', afterSecondWait],
])('makes a row a conflict if its stock has changed %s', async (_when, governorOf) => {
  const { shop, settled } = await written(40, (own) => ({ governor: governorOf(own) }));
  expect(settled.get(40)).toMatchObject({ result: 'conflict' });
  expect(shop.stock.get(40n)).toBe(3);
  expect(shop.faults).toEqual([]);
  expect(settled.size).toBe(40);
});

test.each([
  [[], 'applied', [1, 1]],
  [[{ run: 'r2', command: 'inventory set', result: 'applied', before: 0, quantity: 0 }], 'conflict', [1]],
])('decides a row without a response by the later writes of other runs: %j', async (later, result, sent) => {
  const rows = rowsOf(1);
  const shop = simulatedShop(rows, { requests: new Map([[1, ['lost']]]) });
  const writesSince: WriteOptions['writesSince'] = async (unsettled) => unsettled.map(() => later as LaterWrite[]);
  const { settled } = await writeRows(rows, { ...shop.options, writesSince });
  expect([settled.get(1)?.result, shop.sent]).toEqual([result, sent]);
});
