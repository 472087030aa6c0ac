import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { apply, changeFile, confirming, openShop, test } from '../../support/shop.ts';

const atTerminal = { terminal: 100, env: { NO_COLOR: '1' } } as const;
const two = 'petId,quantity\n4,12\n5,9\n';

describe('a dry run', () => {
  test('exits with what the run would exit with', async ({ shop }) => {
    // The deltas of the last file have been applied before.
    await apply(shop, 'petId,delta\n9,1\n');
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
      const result = await apply(shop, csv, args.split(' '));
      const sent = args === '--exit-code' ? [] : ['GET /v1/inventory'];
      expect(result, `${csv} ${args}`).toMatchObject({ code, sent });
      if (code === 0 || code === 3) expect(result.stderr).not.toContain('rror');
    }
  });

  test('omits the report of a dry run on a terminal if the preview has shown every row', async ({ shop }) => {
    const command = `inventory apply ${changeFile(shop, two)} --dry-run`;
    expect(await shop.exits(command, 0, /4 +39 → 12/, atTerminal)).toMatchObject({ stdout: '' });
    for (const more of [' -o tsv', ' --quiet'])
      expect((await shop.exits(`${command}${more}`, 0, [], atTerminal)).stdout).toMatch(/39\s+12/);
  });

  test('does not write a plan in a dry run of a file whose run is unfinished', async ({ shop }) => {
    const file = changeFile(shop, two);
    const plan = join(shop.folders.state, '..', 'plan.csv');
    shop.service.setFaults(['PATCH /inventory/*:status=401']);
    await shop.run(`inventory apply ${file} --yes`);
    shop.service.setFaults([]);
    const { stdout } = await shop.exits(`inventory apply ${file} --dry-run --plan-out ${plan}`, 7, 'is unfinished');
    expect([stdout, existsSync(plan) ? readFileSync(plan, 'utf8') : '']).toEqual(['', '']);
  });
});

describe('the preview and the question of a run', () => {
  test('apply shows the preview and the question even with --quiet', async ({ shop }) => {
    const { asked, prompts } = confirming(true);
    const command = `inventory apply ${changeFile(shop, two)} --quiet`;
    const { stderr } = await shop.run(command, { ...atTerminal, prompts });
    expect(stderr).toMatch(/4 +39 → 12/);
    expect(asked).toHaveLength(1);
  });

  test('omits the preview of a single row, because the question shows the row', async ({ shop }) => {
    const { asked, prompts } = confirming(true);
    const command = `inventory apply ${changeFile(shop, 'petId,quantity\n4,12\n')}`;
    const { stderr } = await shop.run(command, { ...atTerminal, prompts });
    expect(asked).toEqual([expect.stringMatching(/^Pet 4 in staging: 39 → 12/)]);
    expect(stderr).not.toMatch(/4 +39 → 12/);
  });

  test('warns that the run stops at the daily limit, unless --max-wait is long enough', async () => {
    const shop = await openShop({ limits: { minute: 1000, day: 3 } });
    await shop.run('inventory list');
    const command = `inventory apply ${changeFile(shop, two)} --dry-run`;
    const warning = 'stops when the daily quota is used up';
    expect((await shop.run(command)).stderr).toContain(warning);
    expect((await shop.run(`${command} --max-wait 90000`)).stderr).not.toContain(warning);
  });
});

describe('a resume of a finished run', () => {
  test.for([
    ['each row was written', 0, [], 'All rows of the run were already written.'],
    ['a row was refused', 8, ['PATCH /inventory/5:status=400'], 'already have their outcome: 1 applied, 1 failed.'],
  ] as const)(
    'resumes a finished run without a question, and reports its outcome: %s',
    async ([_what, code, faults, said], { shop }) => {
      shop.service.setFaults(faults);
      await shop.run(`inventory apply ${changeFile(shop, two)} --yes`);
      const [{ run }] = await shop.json('history list --json');
      await shop.exits(`inventory apply --resume ${run}`, code, said, atTerminal);
    },
  );
});

describe('the summary of a run', () => {
  test('apply prints a summary for several rows on a terminal, but not for a single row', async ({ shop }) => {
    const command = (text: string) => `inventory apply ${changeFile(shop, text)} --yes`;
    await shop.exits(command(two), 0, '2 applied.', atTerminal);
    const one = await shop.run(command('petId,quantity\n4,13\n'), atTerminal);
    expect([one.stdout, one.stderr]).toEqual([
      expect.stringContaining('13'),
      expect.not.stringContaining('1 applied.'),
    ]);
    await shop.exits(command('petId,quantity\n4,13\n'), 0, 'Nothing to write.', atTerminal);
  });

  test('apply prints a summary even for one row if there is no terminal', async ({ shop }) => {
    await shop.exits(`inventory apply ${changeFile(shop, 'petId,quantity\n4,13\n')} --yes`, 0, '1 applied.');
  });
});
