import { describe, expect, test } from 'vitest';
import { petstockAt, within } from '../../support/petstock.ts';
import { andThen, answers, commitLate, normally } from '../../support/scripted-actions.ts';
import { scriptedService, tenEach, until } from '../../support/scripted-service.ts';

describe('no wait for the rate limit lies between reading a stock and writing what depends on it', () => {
  /** One request is left, so that a command that only then learns of the limit waits after its read. */
  const oneLeft = { limit: 60, seconds: 3, left: 1 };

  test('set --expect: a sale in the wait is seen, exit 7', async () => {
    const service = await scriptedService({ limit: oneLeft });
    service.next(
      'GET',
      andThen(normally, () => service.sell(1, 2)),
    );
    const { code } = await petstockAt(service).run('inventory set 1 50 --expect 10');
    expect(service.stockOf(1)).toBe(8);
    expect(service.seen('PATCH')).toEqual([]);
    expect(code).toBe(7);
  });

  test('adjust: a sale in the wait is counted', async () => {
    const service = await scriptedService({ limit: oneLeft });
    service.next(
      'GET',
      andThen(normally, () => service.sell(1, 2)),
    );
    const { code, stdout } = await petstockAt(service).run('inventory adjust 1 -1 --json');
    expect(service.stockOf(1)).toBe(7);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ before: 8, quantity: 7 });
  });

  test('adjust with one request left: it waits before it reads', async () => {
    const service = await scriptedService({ limit: { ...oneLeft, left: 2 } });
    const petstock = petstockAt(service);
    expect(await petstock.run('inventory list')).toMatchObject({ code: 0 });
    expect(await petstock.run('inventory adjust 1 -1')).toMatchObject({ code: 0 });
    const [read, write] = [service.seen('GET').at(-1)?.at ?? 0, service.seen('PATCH')[0]?.at ?? 0];
    expect(write - read).toBeLessThan(2000);
    expect(service.stockOf(1)).toBe(9);
  });
});

describe('a request of a killed command that lands 2 s later', () => {
  test('adjust waits until it can not be on its way any more: the sum is exact', async () => {
    const { service, petstock, landed } = await killedOnTheWay();
    const { code } = await petstock.run('inventory adjust 1 +5');
    await until(() => expect(landed()).toBe(true));
    expect({ code, stock: service.stockOf(1) }).toEqual({ code: 0, stock: 55 });
  });

  test('set waits too: the last word is the last command', async () => {
    const { service, petstock, landed } = await killedOnTheWay();
    const { code } = await petstock.run('inventory set 1 20');
    await until(() => expect(landed()).toBe(true));
    expect({ code, stock: service.stockOf(1) }).toEqual({ code: 0, stock: 20 });
  });

  test('undo of it waits too: it is taken back, or said that it was not', async () => {
    const { service, petstock, landed } = await killedOnTheWay();
    const { code } = await petstock.run(`undo ${(await petstock.newest()).run} --yes`);
    await until(() => expect(landed()).toBe(true));
    if (code === 0) expect(service.stockOf(1)).toBe(10);
    else expect([7, 8]).toContain(code);
  });

  test('apply does not say "unchanged" of a stock that is about to change', async () => {
    const { service, petstock, landed } = await killedOnTheWay();
    const { code } = await petstock.run(`inventory apply ${petstock.file('a.csv', ['petId,quantity', '1,10'])} --yes`);
    await until(() => expect(landed()).toBe(true));
    if (code === 0) expect(service.stockOf(1)).toBe(10);
    else expect([7, 8]).toContain(code);
  });

  /** `set 1 50` was killed; the service will carry it out. */
  async function killedOnTheWay() {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    let isLanded = false;
    service.next(
      'PATCH',
      commitLate(2000, () => {
        isLanded = true;
      }),
    );
    const program = petstock.start('inventory set 1 50 --expect 10 --timeout 4');
    await service.untilSeen('PATCH', 1);
    program.kill('SIGKILL');
    await program.result;
    return { service, petstock, landed: () => isLanded };
  }
});

describe('Retry-After: 9999999999', () => {
  test('exit 6, at most 32 days, and limits clear frees the key', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.next('GET', answers(429, { 'Retry-After': '9999999999' }));
    const refused = await petstock.run('inventory list --json');
    expect(refused.code).toBe(6);
    const { retryAfterSeconds } = lastError(refused.stderr);
    expect(retryAfterSeconds).toBeGreaterThan(86_400);
    expect(retryAfterSeconds).toBeLessThan(33 * 86_400);

    expect(await petstock.run('inventory list')).toMatchObject({ code: 6 });
    expect(service.requests).toHaveLength(1);
    expect(await petstock.run('limits clear --yes --env staging')).toMatchObject({ code: 0 });
    expect(await petstock.run('inventory list')).toMatchObject({ code: 0 });
    expect(service.requests).toHaveLength(2);
  });

  test('it is said that the service asked for more', async () => {
    const service = await scriptedService();
    service.next('GET', answers(429, { 'Retry-After': '9999999999' }));
    const { stderr } = await petstockAt(service).run('inventory list -q');
    expect(stderr).toContain('32 days');
  });
});

describe('503 with Retry-After', () => {
  test('nothing is sent before its time, by any process', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    const seconds = 4;
    const isDown = service.always('GET', answers(503, { 'Retry-After': `${seconds}` }));
    const first = petstock.start('inventory list -q');
    await service.untilSeen('GET', 1);
    await until(() => expect(service.requests[0]?.status).toBe(503));
    // Its answer is on its way to the first: give it a moment to be known, then come all at once.
    await service.untilQuiet(300);
    const others = Array.from({ length: 6 }, () => petstock.start('inventory list -q'));
    await service.untilQuiet(seconds * 1000 - 200);
    isDown();
    const results = await Promise.all([first, ...others].map(({ result }) => result));
    expect(results.map(({ code }) => code)).toEqual(results.map(() => 0));
    const closed = service.requests[0]?.at ?? 0;
    const inside = service.requests.slice(1).filter(({ at }) => at < closed + seconds * 1000);
    expect(inside).toEqual([]);
  });
});

describe('beside an apply that waits for the rate limit', () => {
  test('set of a pet that the apply comes to much later does not wait for it', async () => {
    const service = await scriptedService({ stock: tenEach(100), limit: { limit: 6, seconds: 3 } });
    const petstock = petstockAt(service);
    const lines = Array.from({ length: 100 }, (_, index) => `${index + 1},${100 + index}`);
    const file = petstock.file('a.csv', ['petId,quantity', ...lines]);
    const bulk = petstock.start(`inventory apply ${file} --yes -q`);
    await service.untilSeen('PATCH', 1);
    const set = await within(15_000, 'set', petstock.run('inventory set 60 3'));
    expect(set.code).toBe(0);
    expect(service.stockOf(60)).toBe(3);
    bulk.kill('SIGKILL');
    await bulk.result;
  });
});

/** With `--json` it is the last line of stderr. */
function lastError(stderr: string): { readonly retryAfterSeconds?: number } {
  return (JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as { error: { retryAfterSeconds?: number } }).error;
}
