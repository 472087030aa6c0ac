import { describe, expect } from 'vitest';
import {
  type Action,
  andThen,
  answers,
  commitThenAnswer,
  commitThenBreakOff,
  commitThenDrop,
  drop,
  normally,
  storeInstead,
} from '../../support/scripted-service.ts';
import { errorJson } from '../../support/shop.ts';
import { type Till, test } from '../../support/till.ts';

const hours = { 'Retry-After': '7200' };
const apply = (till: Till, ...lines: readonly string[]) =>
  `inventory apply ${till.file('a.csv', `petId,quantity\n${lines.join('\n')}\n`)} --yes --json`;
const countsOf = async (till: Till) => (await till.history())[0]?.counts;

describe('all rows committed, and all responses lost', () => {
  const [quantities, deltas] = ['petId,quantity\n1,51\n2,52\n3,53\n', 'petId,delta\n1,41\n2,42\n3,43\n'];

  test.for<[what: string, action: Action, exit: number, rows: string]>([
    ['no connection', drop, 8, quantities],
    ['empty lists', answers(200, {}, '[]'), 8, deltas],
    ['a 429 with hours to wait', answers(429, hours), 8, quantities],
    ['Ctrl-C', drop, 130, quantities],
  ])(
    'reports committed rows without a response as unknown after %s, and as applied on resume',
    async ([what, action, exit, rows], { till }) => {
      till.service.next('GET', normally);
      till.service.always('PATCH', commitThenDrop);
      const found = till.service.always('GET', action);
      const ctrlCAt = () => what === 'Ctrl-C' && till.service.seen('GET').length === 2;
      const command = `inventory apply ${till.file('a.csv', rows)} --yes --json`;
      const { code, stdout, stderr } = await till.run(command, { ctrlCAt });
      const { run, counts } = JSON.parse(stdout);
      expect(code).toBe(exit);
      expect(counts).toMatchObject({ unknown: 3, applied: 0, failed: 0, notAttempted: 0, conflict: 0 });
      expect(stderr).not.toMatch(/nothing was written|\b0 of 3 /i);
      expect(stderr).toContain(`petstock inventory apply --resume ${run} --env staging`);
      expect(await till.rows()).toMatchObject(Array(3).fill({ result: 'unknown' }));
      const resume = `inventory apply --resume ${run} --yes --json`;
      if (what === 'empty lists') {
        expect(await till.run(resume)).toMatchObject({ code: 1, stderr: expect.stringContaining('an empty list') });
      }
      found();
      till.clock.advance(2 * 3_600_000);
      const resumed = await till.exits(resume, 0);
      expect(JSON.parse(resumed.stdout).counts).toMatchObject({ applied: 3, unknown: 0 });
      expect(till.service.seen('PATCH')).toHaveLength(3);
      expect([1, 2, 3].map(till.service.stockOf)).toEqual([51, 52, 53]);
    },
  );
});

describe('a set that was committed, with its response lost', () => {
  test.for([401, 404])(
    'exits with 0 if a set lost its response but the stock shows the write (next PATCH: %i)',
    async (status, { till }) => {
      till.service.next('PATCH', commitThenDrop);
      till.service.always('PATCH', answers(status));
      const { code, stdout } = await till.run('inventory set 1 50 --json');
      expect({ code, item: JSON.parse(stdout) }).toMatchObject({ code: 0, item: { petId: 1, quantity: 50 } });
      expect(till.service.seen('PATCH')).toHaveLength(1);
      expect(await countsOf(till)).toMatchObject({ applied: 1, failed: 0, unknown: 0 });
    },
  );

  test.for([
    [404, {}],
    [429, hours],
  ] as const)(
    'exits with 8 if a set lost its response and every later request gets a %i',
    async ([status, headers], { till }) => {
      till.service.next('PATCH', commitThenDrop);
      till.service.always('PATCH', answers(status, headers));
      till.service.always('GET', answers(status, headers));
      const { stderr } = await till.exits('inventory set 1 50 --json', 8);
      expect(stderr).not.toMatch(/nothing was written/i);
      expect(await countsOf(till)).toMatchObject({ unknown: 1, failed: 0 });
      expect(await till.rows()).toMatchObject([{ petId: 1, after: 50, result: 'unknown' }]);
    },
  );
});

test.for<[string, Action, number]>([
  ['committed', commitThenDrop, 14],
  ['not committed', drop, 9],
])(
  'keeps a sale, and exits with 8, if adjust gets no response (its request was %s)',
  async ([_what, action, stock], { till }) => {
    const sale = andThen(action, () => till.service.sell(1, 1));
    till.service.next('PATCH', sale);
    const { code } = await till.run('inventory adjust 1 +5 --json');
    expect({ stock: till.service.stockOf(1), code }).toEqual({ stock, code: 8 });
  },
);

test('exits with 8 if the service stores another quantity, and undo restores the stock', async ({ till }) => {
  for (const command of ['inventory set 1 500 --expect 10 --json', apply(till, '1,500')]) {
    till.service.next('PATCH', storeInstead(100));
    const { code, stderr } = await till.run(command);
    expect({ code, stderr }).toEqual({ code: 8, stderr: expect.not.stringMatching(/nothing was written/i) });
    expect(await countsOf(till)).toMatchObject({ differs: 1, applied: 0, failed: 0 });
    expect(await till.rows()).toMatchObject([{ before: 10, after: 500, result: 'differs', quantity: 100 }]);
    expect(await till.run('undo --last --yes')).toMatchObject({ code: 0 });
    expect(till.service.stockOf(1)).toBe(10);
  }
});

test.for(['inventory adjust 1 +5', 'inventory apply FILE --yes'])(
  'does not claim that the stock was read back if only the read before the write was answered: %s',
  async (command, { till }) => {
    till.service.next('GET', normally);
    const file = till.file('a.csv', 'petId,delta\n1,5\n');
    till.service.next('PATCH', (exchange) => {
      till.service.next('GET', answers(500));
      till.service.always('GET', answers(400));
      commitThenBreakOff(exchange);
    });
    const { stderr } = await till.exits(command.replace('FILE', file), 8, 'The stock could not be read back');
    expect(stderr).not.toContain('it was 10');
    expect(till.service.stockOf(1)).toBe(15);
  },
);

test('hints at the same set again if its outcome is unknown and the stock before was not read', async ({ till }) => {
  const broken = till.service.always('PATCH', answers(500));
  await till.run(`config set codes ${till.file('codes.csv', 'code,petId\n94046,1\n')}`);
  const options = '--reason night --retries 0';
  let hint = '';
  for (const words of ['1 77', '77 --code 94046']) {
    const { stderr } = await till.exits(`inventory set ${words} ${options}`, 8, 'When it was read back, it was 10.');
    hint = /^Hint: petstock (.*)$/m.exec(stderr)?.[1] ?? '';
    expect(hint).toBe(`inventory set 1 77 ${options} --env staging`);
  }
  broken();
  await till.exits(hint, 0);
  expect(till.service.stockOf(1)).toBe(77);
});

test.for([
  [429, 'rate_limited', { 'Retry-After': '8' }],
  [401, 'unauthorized', {}],
] as const)('shows a %i only for the row that got it', async ([status, code, headers], { till }) => {
  till.service.next('PATCH', normally);
  till.service.always('PATCH', answers(status, headers));
  const command = apply(till, '1,5', '2,6', '3,7');
  const rows = await till.rows(await till.run(`${command} --concurrency 1 --max-wait 1`));
  const seen = rows.map(({ error }) => [error?.code, error?.status]);
  expect(seen).toEqual([
    [undefined, undefined],
    ['scripted', status],
    [code, undefined],
  ]);
});

describe('responses other than a 200 with the item', () => {
  const item = '{"petId":1,"quantity":50,"status":"available"}';

  test.for([202, 204])('never counts a row as applied after a %i that wrote nothing', async (status, { till }) => {
    till.service.always('PATCH', answers(status, {}, item));
    const { code } = await till.run('inventory set 1 50 --json');
    expect({ code, stock: till.service.stockOf(1) }).toEqual({ code: 8, stock: 10 });
    expect(await countsOf(till)).toMatchObject({ applied: 0 });
  });

  test.for([206])('resends a row of apply after a %i that wrote nothing', async (status, { till }) => {
    till.service.next('PATCH', answers(status, {}, item));
    const result = await till.run(apply(till, '1,50'));
    expect({ code: result.code, stock: till.service.stockOf(1) }).toEqual({ code: 0, stock: 50 });
    expect(await till.rows(result)).toMatchObject([{ result: 'applied' }]);
  });

  test.for<[string, string, Action]>([
    ['set 1 50', 'a 408 to a committed write', commitThenAnswer(408)],
    ['adjust 1 +40', 'half a response', commitThenBreakOff],
  ] as const)('reads the stock back for %s after %s', async ([command, _what, action], { till }) => {
    till.service.next('PATCH', action);
    const { code, stdout } = await till.run(`inventory ${command} --json`);
    expect({ code, item: JSON.parse(stdout) }).toMatchObject({ code: 0, item: { petId: 1, quantity: 50 } });
    expect(till.service.seen('PATCH')).toHaveLength(1);
    expect(await countsOf(till)).toMatchObject({ applied: 1, failed: 0 });
  });
});

test('ends the pause before a retry at once on Ctrl-C', async ({ till }) => {
  till.service.always('PATCH', answers(503));
  /** A pause that only a signal ends. */
  const sleep: typeof till.clock.sleep = (_ms, signal) =>
    new Promise((_resolve, reject) => {
      if (signal?.aborted) reject(signal.reason);
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  const ctrlCAt = /looking|reading the stock|trying again/;
  await till.exits(apply(till, '1,51'), 130, [], { ctrlCAt, clock: { ...till.clock, sleep } });
});

test.for([
  ['has an invalid header', 'Retry\x01After: 60\r\n\r\n', 'list', 'GET', 5],
  ['breaks off', 'Retry-After: 60\r\nX-Rate', 'set 1 5', 'PATCH', 8],
  ['has two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}', 'adjust 1 +1', 'PATCH', 5],
] as const)(
  'sends nothing for 60 s after a response that may be a 429 and whose head %s',
  async ([_what, rest, command, method, expected], { till }) => {
    const sent: number[] = [];
    let garbledAt = Number.NEGATIVE_INFINITY;
    till.service.always(method, (exchange) => {
      garbledAt = till.clock.now();
      exchange.raw(`HTTP/1.1 429 Too Many Requests\r\n${rest}`);
    });
    const onSent = () => sent.push(till.clock.now() - garbledAt);
    const { code, stderr } = await till.run(`inventory ${command} --max-wait 600`, { onSent });
    expect({ code, stderr }).toMatchObject({ code: expected, stderr: expect.stringContaining("can't be read") });
    expect(sent.length).toBeGreaterThan(2);
    expect(Math.min(...sent)).toBeGreaterThanOrEqual(60_000);
  },
);

describe("a change whose report can't be shown", () => {
  const onStdout = () => {
    throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
  };
  test.for([
    ['set 1 5', 'The stock of pet 1 in staging was set to 5, but that could not be shown: the disk is full'],
    ['apply - --yes', 'The run was carried out, but its report could not be shown: the disk is full'],
  ] as const)(
    "reports on stderr what was written if the report can't be printed, with the run: inventory %s",
    async ([command, told], { till }) => {
      const options = (quantity: number) => ({ onStdout, stdin: `petId,quantity\n1,${quantity}\n2,6\n` });
      const unchanged = { onStdout, stdin: 'petId,quantity\n1,10\n2,10\n' };
      await till.exits('inventory apply - --yes', 1, 'Nothing was written, and the report', unchanged);
      const { stderr } = await till.exits(`inventory ${command} --json`, 1, told, options(5));
      const run = (await till.history())[0]?.run;
      expect(errorJson(stderr).error).toMatchObject({ run, hint: `petstock history show ${run}` });
      till.service.always('PATCH', storeInstead(12));
      await till.exits(`inventory ${command.replace(' 5', ' 7')}`, 8, 'to 12, not to 7', options(7));
    },
  );
});

test.for([
  [4, 401],
  [10, 422],
  [6, 429],
  [5, 503],
] as const)('exits with %i after a %i, at first and when the write is resumed', async ([exit, status], { till }) => {
  till.service.always('PATCH', answers(status, status === 429 ? hours : {}));
  await till.exits('inventory adjust 1 +1', exit);
  till.clock.advance(8_000_000);
  const [single] = await till.history();
  const said = /^Error: Nothing more was written: scripted: scripted\.$/m;
  await till.exits(`inventory apply --resume ${single?.run} --yes`, exit, said);
});

test('exits with 5 at first and on resume if a single write never reaches the service', async ({ till }) => {
  const away = { env: { PETSTOCK_URL_STAGING: 'http://127.0.0.1:9/v1' } };
  await till.exits('inventory set 1 7 --retries 0', 5, [], away);
  const [single] = await till.history();
  expect(single).toMatchObject({ counts: { failed: 1 } });
  await till.exits(`inventory apply --resume ${single?.run} --yes`, 5, 'Nothing more was written', away);
});
