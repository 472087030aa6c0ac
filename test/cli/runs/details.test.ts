import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { rowsIn } from '../../support/delimited-rows.ts';
import { tenEach } from '../../support/scripted-service.ts';
import { changeFile, confirming, openShop, type Shop, stockOf, test } from '../../support/shop.ts';
import { openTill } from '../../support/till.ts';

/** Returns options of a terminal at which every question gets this answer, and the questions. */
function person(answer = true) {
  const { asked, prompts } = confirming(answer);
  return { asked, options: { terminal: 100, env: { NO_COLOR: '1' }, prompts } };
}

const applied = (shop: Shop, text: string, ...args: string[]) =>
  shop.run(['inventory', 'apply', changeFile(shop, text), '--yes', '--json', ...args]);

describe('unedited rows', () => {
  test('does not send unedited rows, even if their stock has changed since', async ({ shop }) => {
    const { stdout } = await shop.run('inventory export -');
    const file = changeFile(
      shop,
      stdout.replace(/(\n4,.*,39,)39,/, (_, before) => `${before}20,`),
      'export.csv',
    );
    await shop.run('inventory apply - --yes', { stdin: 'petId,quantity\n1,3\n6,2\n' });
    const result = await shop.run(`inventory apply ${file} --yes --json`);
    expect(result).toMatchObject({ code: 0, sent: ['GET /v1/inventory', 'PATCH /v1/inventory/4 {"quantity":20}'] });
    const { counts, rows } = JSON.parse(result.stdout);
    expect(counts).toMatchObject({ applied: 1, notEdited: 23, unchanged: 0, conflict: 0 });
    expect(rows).toHaveLength(24);
    expect(result.stderr).toContain('1 change, 23 not edited.');
    const [run] = await shop.json('history list --json');
    expect(run.counts).toMatchObject({ applied: 1, notEdited: 23 });
  });

  test('reports only changed rows with --changed', async ({ shop }) => {
    const csv = 'petId,quantity,expected\n4,20,\n1,12,\n6,14,14\n777,1,\n';
    const { stdout } = await applied(shop, csv, '--changed', '--skip-unknown');
    expect(JSON.parse(stdout).rows).toEqual([{ line: 2, petId: 4, before: 39, after: 20, result: 'applied' }]);
  });
});

describe('a dry run', () => {
  test('exits with what the run would exit with', async ({ shop }) => {
    // The deltas of the last file have been applied before.
    await applied(shop, 'petId,delta\n9,1\n');
    for (const [csv, args, code] of [
      ['petId,quantity,expected\n4,1,38\n', '--dry-run', 7],
      ['petId,quantity,expected\n4,1,38\n5,7,\n', '--dry-run', 8],
      ['petId,quantity,expected\n4,1,38\n5,7,\n', '--dry-run --exit-code', 8],
      ['petId,quantity\n5,7\n', '--dry-run', 0],
      ['petId,quantity\n5,7\n', '--dry-run --exit-code', 3],
      ['petId,quantity\n5,1\n', '--dry-run --exit-code', 0],
      ['petId,quantity\n4,0\n5,-1\n', '--dry-run --max-zero 1', 2],
      ['petId,delta\n9,1\n', '--dry-run', 2],
      ['petId,delta\n9,1\n', '--dry-run --again', 0],
      ['petId,quantity\n5,1\n', '--exit-code', 2],
    ] as const) {
      const result = await applied(shop, csv, ...args.split(' '));
      const sent = args === '--exit-code' ? [] : ['GET /v1/inventory'];
      expect(result, `${csv} ${args}`).toMatchObject({ code, sent });
      if (code === 0 || code === 3) expect(result.stderr).not.toContain('rror');
    }
  });
});

test('keeps the --failed-out file of an earlier run until another run begins, and says so', async ({ shop }) => {
  const failed = join(shop.folders.state, '..', 'failed.csv');
  await applied(shop, 'petId,quantity,expected\n4,1,38\n', '--failed-out', failed);
  const isKept = () =>
    expect(rowsIn(readFileSync(failed, 'utf8'))).toEqual([{ petId: '4', expected: '38', quantity: '1' }]);
  isKept();
  const down = { env: { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' } };
  const good = changeFile(shop, 'petId,quantity\n5,9\n');
  const kept = `Warning: ${failed} still has the rows of an earlier run`;
  await shop.exits(`inventory apply ${good} --yes --failed-out ${failed}`, 5, kept, down);
  isKept();
  const bad = changeFile(shop, 'petId,quantity\nx,9\n', 'bad.csv');
  await shop.exits(`inventory apply ${bad} --yes --failed-out ${failed}`, 2, kept);
  await shop.exits(`inventory count ${failed}.txt --apply-only --yes --failed-out ${failed}`, 2, kept);
  isKept();
  const begun = await shop.exits(`inventory apply ${good} --yes --failed-out ${failed}`, 0);
  expect(begun.stderr).not.toContain(kept);
  expect(readFileSync(failed, 'utf8')).toBe('');
  writeFileSync(failed, 'hours of work');
  expect(await shop.refused(`inventory apply ${good} --yes --failed-out ${failed}`)).toContain('already exists');
});

describe('undo --last', () => {
  test("undo --last skips and reports runs that it can't or need not undo", async () => {
    const shop = await openShop({ quantityBounds: { min: 0n } });
    for (const repeated of [1, 2]) await shop.run(`inventory set 8 32 --expect 32 --ref ${repeated}`);
    await shop.run('inventory adjust 4 +5');
    await shop.run('inventory set 8 32 --expect 32');
    await shop.run('inventory set 5 3');
    await shop.run('inventory set 6 -4');
    const { stderr } = await shop.exits('undo --last --yes', 0);
    for (const why of ['wrote nothing.', 'changed nothing.', 'set a stock without reading it first'])
      expect(stderr.replace(/run \S+ \(/g, 'run (')).toContain(`Skipped: run (inventory set) ${why}`);
    expect((await stockOf(shop)).get('4')).toBe(39);
    await shop.exits(
      'undo --last --yes',
      9,
      /Nothing to undo in staging\.(.|\n)*was already undone(.|\n)*And 1 more\./,
    );
  });

  test('undo --last skips a run that changed nothing, and undoes the run before', async ({ shop }) => {
    await shop.run('inventory set 4 12 --read-first');
    await shop.run('inventory set 4 12 --read-first');
    const { code, stderr } = await shop.run('undo --last --yes');
    expect(stderr).toMatch(/Skipped: run \S+ \(inventory set\) changed nothing\./);
    expect([code, (await stockOf(shop)).get('4')]).toEqual([0, 39]);
  });

  test('undo --last follows the order of writes even if the clock was set back', async ({ shop }) => {
    await shop.run('inventory adjust 4 +5');
    shop.clock.step(-3_600_000);
    await shop.run('inventory adjust 5 +5');
    await shop.run('undo --last --yes');
    expect([(await stockOf(shop)).get('4'), (await stockOf(shop)).get('5')]).toEqual([44, 1]);
  });

  test('records the reason of undo --last, and repeats its options in hints', async ({ shop }) => {
    await shop.run('inventory adjust 4 +5 --ref N-881');
    const options = '--max-zero 3 --reason mistake --ref X-1';
    const [{ run: adjusted }] = await shop.json('history list --json');
    expect(await shop.refused(`undo --last ${options}`)).toContain(
      `Hint: petstock undo ${adjusted} ${options} --env staging --dry-run\n`,
    );
    expect(await shop.refused(`undo ${adjusted} ${options} --env sandbox`)).toContain(
      `Hint: petstock undo ${adjusted} ${options} --env staging\n`,
    );
    const { run } = await shop.json(`undo --last --yes ${options} --json`);
    const { rows } = await shop.json(`history show ${run} --json`);
    expect(rows).toMatchObject([{ petId: 4, reason: 'mistake', ref: 'N-881' }]);
  });
});

describe('set', () => {
  test('set reads and prints the previous stock on a terminal, unless the setting read-first says otherwise', async ({
    shop,
  }) => {
    const { sent, stdout, stderr } = await shop.run('inventory set 4 12', { terminal: 100, env: { NO_COLOR: '1' } });
    expect(sent).toEqual(['GET /v1/inventory', 'PATCH /v1/inventory/4 {"quantity":12}']);
    expect(stdout).toMatch(/Before +After[^\n]*\n.*39.*12/);
    expect(stderr).toMatch(/Undo: petstock undo \w{4}\n/);
    await shop.run('config set read-first never');
    expect((await shop.run('inventory set 4 12', { terminal: 100 })).sent).toHaveLength(1);
    await shop.run('config set read-first always');
    expect((await shop.run('inventory set 4 12')).sent).toHaveLength(2);
  });

  test.for([
    ['set 4 -3', 'Pet 4 in staging: 39 → -3 (-42). That is BELOW ZERO. Write this change?'],
    ['set 4 5012', 'Pet 4 in staging: 39 → 5,012 (+4,973), a large change. Write this change?'],
  ] as const)(
    'asks on a terminal before inventory %s, and exits with 2 if declined',
    async ([command, question], { shop }) => {
      const { asked, options } = person(false);
      expect((await shop.run(`inventory ${command}`, options)).code).toBe(2);
      expect(asked).toEqual([question]);
    },
  );
});

describe('adjust', () => {
  test('adjust obeys --dry-run and --expect', async ({ shop }) => {
    const { stdout, sent } = await shop.run('inventory adjust 4 +1 --dry-run --json');
    const rows = [{ before: 39, after: 40, result: 'planned' }];
    expect({ ...JSON.parse(stdout), sent }).toMatchObject({ dryRun: true, rows, sent: ['GET /v1/inventory'] });
    const refused = await shop.run('inventory adjust 4 +1 --expect 12');
    expect(refused).toMatchObject({ code: 7, sent: ['GET /v1/inventory'] });
    expect((await shop.run('inventory adjust 4 +1 --expect 39')).code).toBe(0);
  });
});

describe('the question', () => {
  test('warns in the question if a file was applied before', async ({ shop }) => {
    const file = changeFile(shop, 'petId,delta\n4,1\n5,-1\n');
    await shop.run(`inventory apply ${file} --yes`);
    const { asked, options } = person();
    expect((await shop.run(`inventory apply ${file}`, options)).code).toBe(0);
    expect(
      asked.map((question) => question.replace(/\S+changes\.csv was applied at [\d:]{8} by run \w{4}/, '…')),
    ).toEqual(['Apply 2 changes to staging AGAIN? …. Units: 1 added, 1 removed. 1 pet BELOW ZERO.']);
  });

  test('asks about the undo of one pet in a single question', async ({ shop }) => {
    await shop.run('inventory adjust 4 +22 --reason N-881');
    const { asked, options } = person();
    const { code, stderr } = await shop.run('undo --last', options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringMatching(/Run |1 applied|Units/) });
    const question = 'Pet 4 in staging: 61 → 39 (-22), as before inventory adjust (N-881), run RUN. Undo this change?';
    expect(asked.map((text) => text.replace(/run \w{4}/, 'run RUN'))).toEqual([question]);
  });

  test('prints a bar before a reason that looks like a message, and omits it from the question', async ({ shop }) => {
    await shop.run(['inventory', 'adjust', '4', '+22', '--reason', 'Hint: all is sold']);
    const { asked, options } = person();
    const { stderr } = await shop.run('undo --last', options);
    expect(asked).toEqual([expect.stringMatching(/, as before inventory adjust, run \w{4}\. Undo this change\?$/)]);
    expect(stderr).toContain('\n│ Hint: all is sold\n');
  });
});

test('lists a conflict only once, in undo and in apply', async ({ shop }) => {
  await shop.run('inventory adjust 4 +22');
  await shop.run('inventory adjust 4 -1');
  const [, first] = await shop.json('history list --json');
  const { options } = person();
  const one = await shop.run(`undo ${first.run}`, options);
  expect([one.code, one.stdout.match(/conflict/g)?.length]).toEqual([7, 1]);
  expect(one.stderr).toMatch(
    /^▸ [^\n]*\nRate limit: [^\n]*\nError: Nothing was written: pet 4: run \S+ \(inventory adjust\) has written the\s+stock\s+since\./,
  );
  const file = changeFile(shop, 'petId,expected,quantity\n4,1,2\n5,2,3\n6,14,14\n');
  const several = await shop.run(['inventory', 'apply', file], options);
  expect(several.stderr).toMatch(/\n1 not edited, 2 conflicts\.\nNothing to write\.\n/);
  expect(several.stdout.match(/conflict/g)).toHaveLength(2);
});

test('asks only about the remaining row of a resume, and says how many are written', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/6:status=401'] });
  await applied(shop, 'petId,quantity\n4,1\n5,7\n6,8\n', '--concurrency', '1');
  shop.service.setFaults([]);
  const { asked, options } = person();
  const told = /Run \S+ \(inventory apply\): 2 of 3 written\./;
  const { stderr } = await shop.exits('inventory apply --resume latest', 0, told, options);
  expect(stderr).not.toMatch(/39 →/);
  expect(asked).toEqual(['Pet 6 in staging: 14 → 8 (-6), 2 of 3 written. Write this change?']);
});

test.for([-3_600_000, 3_600_000])(
  "estimates the wait of a plan by the service's clock if the local clock is off by %i ms",
  async (wrongBy) => {
    const till = await openTill({ stock: tenEach(130), limit: { limit: 60, seconds: 60 } });
    const clock = { ...till.clock, now: () => till.clock.now() + wrongBy };
    const rows = Array.from({ length: 130 }, (_, index) => `${index + 1},12\n`);
    const file = till.file('a.csv', `petId,quantity\n${rows.join('')}`);
    await till.exits(`inventory apply ${file} --dry-run`, 0, '131 requests: about 2 min at 60 a minute', { clock });
  },
);
