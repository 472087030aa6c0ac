import { describe, expect } from 'vitest';
import { InterruptedError } from '../../../../src/shared/errors.ts';
import { createTestClock, type TestClock } from '../../../support/clock.ts';
import type { RunResult } from '../../../support/context.ts';
import type { ScriptedService } from '../../../support/scripted-service.ts';
import { openShop, type ShopRunOptions, test } from '../../../support/shop.ts';
import { openTill } from '../../../support/till.ts';

interface Watched extends RunResult {
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** The times at which checks were sent, in seconds since the first. */
  readonly times: readonly number[];
}

type Before = (look: number, service: ScriptedService, clock: TestClock) => void;

/** Watches a service of three pets with 10 each. @param before is called before each check, from 1 on */
async function watch(options: string, before: Before = () => {}, run: ShopRunOptions = {}): Promise<Watched> {
  const { service, clock, ...till } = await openTill();
  const times: number[] = [];
  const result = await till.run(`inventory watch ${options}`.trim(), {
    ...run,
    env: { NO_COLOR: '1', TZ: 'UTC', ...run.env },
    around: async (send) => {
      times.push(clock.monotonic() / 1000);
      before(times.length, service, clock);
      return send();
    },
  });
  const lines = result.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const start = times[0] ?? 0;
  return { ...result, lines, times: times.map((time) => time - start) };
}

const sells: Before = (look, service) => {
  if (look > 1) service.sell(1, 1);
};

test('watch prints each change as NDJSON without a terminal, and checks every 15 s', async () => {
  const result = await watch('--for 35', sells);
  expect(result.code).toBe(0);
  expect(result.lines).toMatchObject([
    { at: '2026-01-15T12:00:35.000Z', petId: 1, before: 10, after: 9, status: 'available', change: 'changed' },
    { at: '2026-01-15T12:00:50.000Z', petId: 1, before: 9, after: 8 },
    { at: '2026-01-15T12:00:55.000Z', petId: 1, before: 8, after: 7 },
  ]);
  expect(result.times).toEqual([0, 15, 30, 35]);
  expect(result.stderr).toContain('Watching 3 pets of staging, every 15 s. Ctrl-C ends it.\n');
});

const at = '2026-01-15T12:00:35.000Z';

test.each([
  ['-o csv', `at,petId,before,after,status,change\n${at},1,10,9,available,changed\n`],
  ['-o tsv', `${at}\t1\t10\t9\tavailable\tchanged\n`],
  [
    '-o ndjson --string-ids',
    `{"at":"${at}","petId":"1","before":10,"after":9,"status":"available","change":"changed"}\n`,
  ],
])('prints a change in watch with %s', async (format, expected) => {
  const fields = 'at,petId,before,after,status,change';
  expect((await watch(`--for 15 ${format} --fields ${fields}`, sells)).stdout).toBe(expected);
});

test('watch prints nothing but a CSV header if nothing changes', async () => {
  const header = expect.stringMatching(/^at,petId,before,after,.*,change,.*\n$/);
  expect(await watch('--for 15 -o csv')).toMatchObject({ code: 0, stdout: header });
  expect(await watch('--for 15 --first -o csv')).toMatchObject({ code: 3, stdout: header });
  expect(await watch('--for 15 -o csv --no-header')).toMatchObject({ code: 0, stdout: '' });
  expect(await watch('--for 15 -o ndjson')).toMatchObject({ code: 0, stdout: '' });
  const refused = await watch('--for 15 -o csv', (_look, service) =>
    service.next('GET', ({ answer }) => answer(401, '{}')),
  );
  expect(refused).toMatchObject({ code: 4, stdout: '' });
});

test('reports added pets, removed pets and a changed status in watch', async () => {
  const answers = [
    '[{"petId":1,"quantity":3,"status":"available"},{"petId":2,"quantity":1,"status":"sold"}]',
    '[{"petId":9007199254740993,"quantity":7,"status":"pending"},{"petId":1,"quantity":3,"status":"sold"}]',
  ];
  const { stdout } = await watch('--for 15', (look, service) =>
    service.next('GET', ({ answer }) => answer(200, answers[look - 1])),
  );
  const rows = stdout.trimEnd().split('\n');
  expect(rows.map((row) => JSON.parse(row))).toMatchObject([
    { petId: 1, before: 3, after: 3, status: 'sold', change: 'changed', statusBefore: 'available' },
    { petId: 2, before: 1, after: null, status: 'sold', change: 'removed' },
    { before: null, after: 7, status: 'pending', change: 'added' },
  ]);
  expect(rows[2]).toContain('"petId":9007199254740993,');
});

describe('filters of watch', () => {
  const sellAll: Before = (look, service) => {
    if (look === 2) {
      service.sell(1, 4);
      service.sell(2, 5);
      service.sell(3, 10);
    }
    if (look === 3) service.sell(2, 1);
    if (look === 4) service.sell(2, -1);
  };
  test.each([
    ['--pet 2', [2, 2, 2]],
    ['--low', [2, 2]],
    ['--status sold', [3]],
  ])('filters the changes of watch with %s', async (options, petIds) => {
    const { lines } = await watch(`--for 45 ${options}`, sellAll);
    expect(lines.map(({ petId }) => petId)).toEqual(petIds);
  });
});

test('watch --first exits with 0 after a change, and with 3 if --for ends without a change', async () => {
  const first = await watch('--first', (look, service) => look === 3 && service.sell(1, 1));
  expect(first).toMatchObject({ code: 0, lines: [{ petId: 1 }], times: [0, 15, 30] });
  expect(await watch('--first --for 40')).toMatchObject({ code: 3, stdout: '', times: [0, 15, 30, 40] });
  expect(await watch('--for 40')).toMatchObject({ code: 0, stdout: '' });
});

test('watch exits with 0 on Ctrl-C', async () => {
  const controller = new AbortController();
  const stop = () => setImmediate(() => controller.abort(new InterruptedError('Interrupted')));
  const { code, stdout, stderr } = await watch('', stop, { interrupted: controller.signal });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).not.toContain('Error');
});

describe('watch through failures', () => {
  /** Answers checks `from` to `to` with this status, or drops them if it is 0. Sells one unit at check `to`. */
  const fault =
    (from: number, to: number, status: number, body = ''): Before =>
    (look, service) => {
      const isDue = look >= from && look <= to;
      if (isDue) service.next('GET', ({ answer, drop }) => (status === 0 ? drop() : answer(status, body)));
      if (look === to) service.sell(1, 1);
    };

  test.each([
    ['a 503', 503, ''],
    ['a response that is not a list', 200, '<html>'],
    ['half a list', 200, '[{"petId":1,"quantity":3,"status":"available"},'],
    ['a connection that breaks', 0, ''],
  ])('watch warns only once about %s, and then shows what changed meanwhile', async (_what, status, body) => {
    const result = await watch('--for 60', fault(2, 3, status, body));
    expect(result).toMatchObject({ code: 0, times: [0, 15, 30, 45, 60], lines: [{ petId: 1, before: 10, after: 9 }] });
    expect(result.stderr.match(/changes are not reported until the service responds/g)).toHaveLength(1);
    expect(result.stderr.match(/The service responds again, after 30 s/g)).toHaveLength(1);
  });

  test('watch warns about a failed check even with --quiet', async () => {
    const result = await watch('--for 30 -q', fault(2, 2, 503));
    expect(result.stderr).toMatch(/^Warning: .*changes are not reported until the service responds/);
    expect(result.stderr.trim().split('\n')).toHaveLength(1);
  });

  test('watch exits with 4 after a 401', async () => {
    const body = '{"code":"unauthorized","message":"no","status":401}';
    expect(await watch('', fault(3, 3, 401, body))).toMatchObject({ code: 4, times: [0, 15, 30] });
  });

  test('watch slows down after a 429, and sends nothing before Retry-After has passed', async () => {
    const refusals: Before = (look, service) => {
      if (look === 2 || look === 3) service.next('GET', ({ answer }) => answer(429, '', { 'Retry-After': '40' }));
    };
    const { code, times, stderr } = await watch('--for 400', refusals);
    expect(code).toBe(0);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(gaps[0]).toBe(15);
    expect(gaps[1]).toBeGreaterThanOrEqual(40);
    expect(gaps[2]).toBeGreaterThanOrEqual(60);
    expect(times.length).toBeLessThan(10);
    expect(Math.min(...gaps.slice(3, -1))).toBe(60);
    expect(stderr.match(/Checking at most every 40 s: the service returned 429/g)).toHaveLength(1);
    const refusal: Before = (look, service) => {
      if (look === 2) service.next('GET', ({ answer }) => answer(429, '', { 'Retry-After': '100' }));
    };
    expect((await watch('--for 150 --max-wait 0', refusal)).times).toEqual([0, 15, 145, 150]);
  });
});

test('watch ends after --for even if the rate limit allows no request', async () => {
  const clock = createTestClock();
  let [meanwhile, looks] = [async () => {}, 0];
  const sleep: TestClock['sleep'] = async (ms, signal) => {
    // Lets a check that waits for the limit time out.
    if (ms > 2000) clock.expireDeadlines(2000);
    await clock.sleep(ms, signal);
    await meanwhile();
  };
  const { service, run } = await openTill({}, { ...clock, sleep });
  const refused = () => {
    service.next('GET', ({ answer }) => answer(429, '', { 'Retry-After': '40' }));
    return run('inventory list --max-wait 0');
  };
  await refused();
  const behind = clock.monotonic();
  const { code, stderr } = await run('inventory watch --for 2 --first');
  expect({ code, seconds: (clock.monotonic() - behind) / 1000 }).toEqual({ code: 3, seconds: 2 });
  expect(stderr).toMatch(/Warning: --for leaves no time to find a change: the next check/);

  clock.advance(60_000);
  meanwhile = async () => {
    meanwhile = async () => {};
    expect((await refused()).code).toBe(6);
  };
  const began = clock.monotonic();
  const watched = await run('inventory watch --for 10', {
    around: (send) => {
      looks += 1;
      return send();
    },
  });
  expect(watched.code).toBe(0);
  expect({ looks, seconds: (clock.monotonic() - began) / 1000 }).toEqual({ looks: 1, seconds: 10 });
});

test('watch uses at most a tenth of the rate limit, and reports the slower interval once', async () => {
  const minute = await openShop({ limits: { minute: 20, day: 1_000_000 } });
  const result = await minute.run('inventory watch --interval 1 --for 300');
  expect([result.code, result.requests.length]).toEqual([0, 11]);
  const slower = /Checking at most every 30 s: checks may use at most a tenth of the rate limit/g;
  expect(result.stderr.match(slower)).toHaveLength(1);
  const free = await openShop({ plan: 'free' });
  expect((await free.run('inventory watch --interval 1 --for 86400 -q')).requests.length).toBeLessThanOrEqual(100);
});

test('watch refuses invalid options, and sends nothing', async ({ shop }) => {
  const wrong = ['--interval 0', '--interval x', '--interval 0.01', '--for -1', '--pet x', '--status gone', 'extra'];
  for (const words of wrong) await shop.refused(`inventory watch ${words}`);
});

test('watch warns if --for ends before the second check', async () => {
  const slow = await openShop({ limits: { minute: 5, day: 1_000_000 } });
  const short = await slow.run('inventory watch --for 30');
  expect(short.requests).toHaveLength(1);
  expect(short.stderr.match(/Warning: --for leaves no time to find a change: the next check/g)).toHaveLength(1);
  expect(short.stderr).toContain('2 min after the last');
  const long = await slow.run('inventory watch --for 300');
  expect(long.stderr).not.toContain('leaves no time to find a change');
  expect((await watch('--for 5')).stderr).not.toContain('leaves no time to find a change');
});

const stock = (quantity: number) => `[{"petId":1,"quantity":${quantity},"status":"available"}]`;

test('watch --low --first notices a low stock after a response with no pets', async () => {
  const answers = [stock(100), '[]', stock(2)];
  const before: Before = (look, service) => service.next('GET', ({ answer }) => answer(200, answers[look - 1]));
  const result = await watch('--low --first --for 60', before);
  expect(result).toMatchObject({ code: 0, lines: [{ petId: 1, before: null, after: 2, change: 'added' }] });
});

test('watch shows the time of the response even if the request had to wait', async () => {
  const { service, clock, run } = await openTill();
  service.next('GET', ({ answer }) => answer(429, '', { 'Retry-After': '40' }));
  await run('inventory list --max-wait 0');
  const opens = clock.now() + 40_000;
  const { stdout } = await run('inventory watch --now --first --for 60');
  expect(Date.parse(JSON.parse(stdout.split('\n')[0] ?? '').at)).toBeGreaterThanOrEqual(opens);
});

test.each([
  [12, '  1      10     -2     -12  below 0  available → sold'],
  [9, '  1      10      1      -9  low      available'],
])('prints a row of watch on a terminal after a sale of %i: %j', async (units, line) => {
  const sell: Before = (look, service) => look === 2 && service.sell(1, units);
  const { stdout } = await watch('--now --first --pet 1', sell, { terminal: 120 });
  expect(stdout).toMatch(/^Time {6}Pet ID {2}Before {2}After {2}Change {11}Status/);
  expect(stdout).toContain(line);
});

test('watch --now prints the current stock first, marked as "now"', async () => {
  const { lines } = await watch('--now --first --pet 1,2', (look, service) => look === 2 && service.sell(1, 9));
  expect(lines).toMatchObject([
    { petId: 1, before: null, after: 10, change: 'now' },
    { petId: 2, before: null, after: 10, change: 'now' },
    { petId: 1, before: 10, after: 1, change: 'changed' },
  ]);
  expect(await watch('--now --first --for 20')).toMatchObject({ code: 3, lines: [{}, {}, {}] });
});
