import { describe, expect } from 'vitest';
import { apply, changeFile, errorJson, openShop, type Shop, stockOf, test, withReport } from '../../../support/shop.ts';

const petIds = Array.from({ length: 21 }, (_, index) => index + 1);
const csv = `petId,quantity\n${petIds.map((petId) => `${petId},${petId + 1000}`).join('\n')}\n`;

const resume = async (shop: Shop, run: string, flags = '--yes') =>
  withReport(await shop.run(`inventory apply --resume ${run} ${flags} --json`));

describe('a row with an unknown outcome', () => {
  test('leaves a row pending if its PATCH keeps returning 503, and writes it on resume', async () => {
    const shop = await openShop({ faults: ['PATCH /inventory/5:first=5:status=503'] });
    // Pet 1 has 12 already.
    const down = await apply(shop, 'petId,quantity\n4,1\n5,7\n1,12\n');
    expect(down.code).toBe(8);
    // The row was sent, and the stock shows that it was not written.
    const error = { code: 'injected_fault', message: 'This error was requested by a fault.', status: 503 };
    expect(down.report.rows[1]).toMatchObject({ result: 'failed', error });
    expect(down.report.counts).toMatchObject({ applied: 1, unchanged: 1, failed: 1, notAttempted: 0 });
    const { run } = down.report;
    const { hint, message } = errorJson(down.stderr).error;
    expect(message).toContain('1 of 2 changes was written; 1 failed');
    expect(hint).toBe(`petstock inventory apply --resume ${run} --env staging`);
    const rows = [{ result: 'applied' }, { result: 'pending', error }];
    expect(await shop.json(`history show ${run} --json`)).toMatchObject({ state: 'incomplete', rows });
    const planned = await resume(shop, run, '--dry-run');
    expect(planned.report.counts).toMatchObject({ applied: 1, unchanged: 1, failed: 0 });
    expect(planned.report.rows[1]).toEqual({ line: 3, petId: 5, before: 1, after: 7, result: 'planned' });
    const resumed = await resume(shop, run);
    expect(resumed).toMatchObject({ code: 0, report: { run, counts: { applied: 2, unchanged: 1 } } });
    expect(resumed.sent).toEqual(['GET /v1/inventory', 'PATCH /v1/inventory/5 {"quantity":7}']);
    expect(resumed.stderr).toContain('2 applied, 1 unchanged.');
  });
});

const faults = ['commit-then-drop', 'status=503', 'reset', 'truncate', 'malform', 'status=500'];

test.each([1])('writes and undoes all rows even if each fault hits a tenth of the requests (seed %i)', async (seed) => {
  const shop = await openShop({ faults: faults.map((fault) => `PATCH /inventory/*:p=0.1:seed=${seed}:${fault}`) });
  const result = await apply(shop, csv);
  expect(result).toMatchObject({ code: 0, report: { counts: { applied: 21 } } });
  const stock = await stockOf(shop);
  for (const petId of petIds) expect(stock.get(`${petId}`)).toBe(petId + 1000);
  const undone = withReport(await shop.run(`undo ${result.report.run} --yes --json`));
  expect(undone).toMatchObject({ code: 0, report: { counts: { applied: 21 } } });
  expect(await stockOf(shop)).toEqual(await stockOf(await openShop()));
});

describe('Ctrl-C in apply', () => {
  test('finishes requests in flight on Ctrl-C, and sends only the remaining rows on --resume', async ({ shop }) => {
    let patches = 0;
    const stopped = await apply(shop, csv, ['--concurrency', '4'], {
      ctrlCAt: ({ method }) => method === 'PATCH' && ++patches === 9,
    });
    expect(stopped.code).toBe(130);
    const { applied = 0, notAttempted = 0 } = stopped.report.counts;
    expect(applied).toBeGreaterThanOrEqual(9);
    expect(applied + notAttempted).toBe(21);
    expect(notAttempted).toBeGreaterThan(0);
    const { run } = stopped.report;
    const hint = `petstock inventory apply --resume ${run} --env staging`;
    expect(errorJson(stopped.stderr).error).toMatchObject({ kind: 'interrupted', run, hint });
    const resumed = await resume(shop, run);
    expect(resumed).toMatchObject({ code: 0, report: { counts: { applied: 21, notAttempted: 0 } } });
    expect(resumed.sent.filter((request) => stopped.sent.includes(request))).toEqual(['GET /v1/inventory']);
    expect(resumed.sent).toHaveLength(notAttempted + 1);
  });

  test('reports right after Ctrl-C that apply is stopping and how to resume it', async () => {
    const shop = await openShop({ faults: ['PATCH /inventory/*:delay=20'] });
    const file = changeFile(shop, csv);
    const said: string[] = [];
    await shop.exits(`inventory apply ${file} --yes`, 130, [], {
      ctrlCAt: ({ method }) => method === 'PATCH',
      onStderr: (text) => said.push(text),
    });
    const at = said.findIndex((text) => text.startsWith('Stopping after the current requests.'));
    expect(said[at]).toMatch(/To resume later: petstock inventory apply --resume \S+ --env staging\n$/);
    expect(at).toBeLessThan(said.findIndex((text) => text.includes('Interrupted.')));
  });

  test('leaves no row unknown if Ctrl-C ends an apply that waits for the rate limit', async () => {
    const shop = await openShop({ limits: { minute: 12, day: 1000 } });
    const stopped = await apply(shop, csv, [], { ctrlCAt: /rate limit/, terminal: 100, terminals: ['stderr'] });
    expect(stopped.code).toBe(130);
    expect(stopped.stderr.indexOf('Stopping after')).toBeLessThan(stopped.stderr.indexOf(' not attempted.'));
    const { rows } = await shop.json(`history show ${stopped.report.run} --json`);
    const states = new Set(rows.map(({ result }: { result: string }) => result));
    expect(states).toEqual(new Set(['applied', 'pending']));
  });
});

test('stops a run at the daily limit, and resumes it the next day', async () => {
  const shop = await openShop({ limits: { minute: 1000, day: 15 } });
  const stopped = await apply(shop, csv);
  expect(stopped.code).toBe(8);
  expect(stopped.report.counts.applied).toBeGreaterThan(5);
  expect(errorJson(stopped.stderr).error.retryAfterSeconds).toBeGreaterThan(3600);
  expect(await resume(shop, stopped.report.run)).toMatchObject({ code: 6, requests: [] });
  shop.clock.advance(24 * 3600_000);
  const resumed = await resume(shop, stopped.report.run);
  expect(resumed).toMatchObject({ code: 0, report: { counts: { applied: 21 } } });
});

test('reports a 401 only for the row that got it, and resumes the run only at its own service', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/5:first=1:status=401'] });
  const { report } = await apply(shop, 'petId,quantity\n4,1\n5,7\n6,8\n8,9\n', ['--concurrency', '1']);
  const unsent = { code: 'unauthorized', message: 'not sent: the service did not accept the key' };
  expect(report.rows).toMatchObject([
    { result: 'applied' },
    { result: 'notAttempted', error: { status: 401 } },
    ...Array(2).fill({ result: 'notAttempted' }),
  ]);
  expect(report.rows.slice(2).map(({ error }) => error)).toEqual([unsent, unsent]);
  const hint = `petstock inventory apply --resume ${report.run} --env staging`;
  const show = `history show ${report.run}`;
  const list = 'history list --state incomplete';
  expect((await shop.run(show)).stderr).toContain(`To resume: ${hint}\n`);
  expect((await shop.run(list, { terminal: 60 })).stderr).toBe(`To resume:\n  ${hint}\n`);
  expect((await shop.run(list)).stderr).toBe('');
  const command = `inventory apply --resume ${report.run} --fail-fast --max-zero 3`;
  for (const [place, end] of [
    ['', ' --dry-run'],
    [' --env sandbox', ''],
  ]) {
    expect(await shop.refused(command + place)).toContain(`Hint: petstock ${command} --env staging${end}\n`);
  }

  const { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key } = shop.env;
  const env = { PETSTOCK_URL_PRODUCTION: url, PETSTOCK_API_KEY_PRODUCTION: key };
  const again = `inventory apply --resume ${report.run} --yes`;
  expect(await shop.refused(`${again} --env production`, { env })).toContain('--env staging');
  await shop.refused(again, { env: { PETSTOCK_URL_STAGING: 'http://127.0.0.1:9/v1' } });
  expect(await shop.run('inventory apply --resume 20200101T000000Z-aaaa --yes')).toMatchObject({ code: 9 });
  expect(await shop.run(again)).toMatchObject({ code: 0 });
  expect((await shop.run('history list', { terminal: 60 })).stderr).not.toContain('To resume');
  expect((await shop.run(show)).stderr).not.toContain('To resume');
});

test('reports on --resume that all rows of a finished run were written, and sends nothing', async ({ shop }) => {
  const { report } = await apply(shop, 'petId,quantity\n5,7\n');
  const again = await resume(shop, report.run);
  expect(again).toMatchObject({ code: 0, requests: [], report: { run: report.run, counts: { applied: 1 } } });
  expect(again.stderr).toContain('All rows of the run were already written.\n');
  expect(again.stderr).not.toContain('No rows');
});

test('writes the rows of two overlapping runs one after the other, or reports a conflict', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/*:delay=1'] });
  const left = apply(shop, `petId,quantity\n${petIds.map((petId) => `${petId},${petId + 2000}`).join('\n')}\n`);
  const right = apply(shop, `petId,quantity\n${petIds.map((petId) => `${petId},${petId + 3000}`).join('\n')}\n`);
  const [one, other] = await Promise.all([left, right]);
  const stock = await stockOf(shop);
  for (const [index, petId] of petIds.entries()) {
    const results = [one.report.rows[index]?.result, other.report.rows[index]?.result];
    const winner = stock.get(`${petId}`) === petId + 2000 ? 0 : 1;
    expect(results[winner]).toBe('applied');
    // The other run either read the stock before that write (a conflict) or based its change on it.
    if (results[1 - winner] === 'applied') {
      const later = [one, other][winner]?.report.rows[index];
      expect(later?.before).toBe(petId + (winner === 0 ? 3000 : 2000));
    } else {
      expect(results[1 - winner]).toBe('conflict');
    }
  }
});
