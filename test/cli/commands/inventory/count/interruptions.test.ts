import { expect } from 'vitest';
import { InterruptedError } from '../../../../../src/shared/errors.ts';
import { confirming, openShop, type Shop, stockOf, test } from '../../../../support/shop.ts';
import { stateSql } from '../../../../support/state-sql.ts';
import { count, person, sessionIn, sessionsIn, statesIn } from './count-rig.ts';

test('keeps the counting session after Ctrl-C, and prints a command that resumes it', async ({ shop }) => {
  const stopped = await count(shop, '4\n4\n4\n4\n4\n4\n', '', { ...person, ctrlCAt: /4: 2/ });
  expect(stopped.code).toBe(130);
  const name = await sessionIn(shop);
  const keeps = new RegExp(`Error: Interrupted. Session ${name} keeps ([2-5]) units, 1 pet`);
  expect(stopped.stderr).toMatch(keeps);
  const [, units] = keeps.exec(stopped.stderr) ?? [];
  expect(stopped.stderr).toContain(`Hint: petstock inventory count ${name} --env staging\n`);
  const on = await count(shop, '4\n', `${name} --yes --json`);
  expect(on.written).toEqual([`4 {"quantity":${Number(units) + 1}}`]);
});

test('discards the counting session after Ctrl-C before the first scan', async ({ shop }) => {
  const stopped = await count(shop, '\n\n\n', '', { ...person, ctrlCAt: /Scan, or type/ });
  expect(stopped.code).toBe(130);
  expect(stopped.stderr).toMatch(/Error: Interrupted\. Nothing was counted\.\n$/);
  expect(await statesIn(shop)).toEqual(['discarded']);
});

test('refuses a counting session whose run is unfinished, and suggests resuming the run', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/5:first=1:status=401'] });
  const broken = await count(shop, '4\n5 x9\n8\n', '--yes --json --concurrency 1');
  expect(broken.code).toBe(8);
  const { run } = broken.report;
  expect(broken.stderr).toContain(`petstock inventory apply --resume ${run} --env staging`);
  expect((await count(shop, '4\n', `${await sessionIn(shop)} --yes`)).stderr).toContain(
    `was applied, but its run ${run} is not finished. This command wrote nothing.\nHint: petstock inventory apply --resume ${run} `,
  );
  expect((await shop.run(`inventory apply --resume ${run} --yes`)).code).toBe(0);
  expect((await shop.run('inventory get 4 5 8')).stdout).toMatch(/^4\t1\t.*\n5\t9\t.*\n8\t1\t.*\n$/);
});

/** Runs a count whose process dies with the first PATCH. @returns its session */
async function killedCount(shop: Shop, lines: string, args: string): Promise<string> {
  const lost: Promise<never> = new Promise(() => {});
  await new Promise<void>((resolve) => {
    let isKilled = false;
    void count(shop, lines, args, {
      onSent: ({ method }) => {
        isKilled = method === 'PATCH';
        if (isKilled) resolve();
      },
      around: async (send) => {
        const answer = await send();
        return isKilled ? lost : answer;
      },
    });
  });
  return sessionIn(shop);
}

test('shows the units that a counting session handed over before a crash, if no run has them', async ({ shop }) => {
  await count(shop, '4 x2\n', '--take --yes');
  const undone = ["DELETE FROM count_scans WHERE kind IN ('run', 'settled')", 'UPDATE counts SET ended = NULL'];
  await stateSql(shop.folders.state, ...undone, 'DELETE FROM rows', 'DELETE FROM runs');
  expect(await shop.json('inventory count --list --json')).toMatchObject([{ pets: 1, units: 2, state: 'unknown' }]);
  const { asked, prompts } = confirming(true);
  await shop.exits(`inventory count --discard ${await sessionIn(shop)}`, 0, [], { ...person, prompts });
  expect(asked).toEqual([expect.stringContaining('(unknown: 2 units, 1 pet)?')]);
});

test('reports after a crash that a counting session was already applied by a run', async ({ shop }) => {
  const session = await killedCount(shop, '4 x2\n', '--yes');
  const stderr = await shop.refused(`inventory count ${session} --yes`, { stdin: '4\n' });
  expect(stderr).toMatch(/Error: Session \w{4} was applied, (by run|but its run) \S+/);
});

test.for([
  ['right after its run began', true],
  ['before its session knew of the run', false],
] as const)('adds a counted delivery only once if its process dies %s', async ([_when, knows], { shop }) => {
  const stock = (await stockOf(shop)).get('4') ?? 0;
  const session = await killedCount(shop, '4 x5\n', '--new --add --yes');
  shop.clock.advance(60_000);
  if (!knows) await stateSql(shop.folders.state, 'UPDATE counts SET ended = NULL');
  expect((await count(shop, '8\n', '--new --add --yes --max-changes 0')).code).toBe(2);
  const [other] = (await sessionsIn(shop)).filter((name) => name !== session);
  await shop.refused(`inventory count --merge ${session} ${other} --yes`);
  expect((await shop.run('inventory apply --resume latest --yes')).code).toBe(0);
  expect(await statesIn(shop)).toEqual(['applied', 'open']);
  expect((await shop.run('history prune --keep 0 --yes')).code).toBe(0);
  expect((await count(shop, '', `${session} --yes`)).code).toBe(2);
  expect((await stockOf(shop)).get('4')).toBe(stock + 5);
});

test('counts scans while the service is down, and warns that pets are checked at the end', async () => {
  const shop = await openShop({ faults: ['GET /inventory:first=9:status=503'] });
  const result = await count(shop, '4\n777777\n-\n777777\ndone\n', '', person);
  expect(result.stderr).toMatch(
    /Warning: [\s\S]*Pet ids are checked once the count\s+is\s+done\.\n│ This error was requested by a fault\.\n/,
  );
  expect(result.stderr).toContain('777777: 1\n');
  expect(result.code).toBe(8);
});

test('inventory count exits with 4 if the service refuses the key', async ({ shop }) => {
  const env = { ...person.env, PETSTOCK_API_KEY_STAGING: 'psk_0123456789abcdefghijklmnopqrst' };
  expect(await count(shop, '4\n', '', { ...person, env })).toMatchObject({ code: 4 });
  expect((await count(shop, '4\ndone\n', '', person)).code).toBe(0);
});

test('keeps the counting session if the service is down at the end, or after Ctrl-C at the question', async () => {
  const shop = await openShop({ faults: ['GET /inventory:first=5:status=503'] });
  const away = await count(shop, '4 x2\n', '--yes');
  expect(away.code).toBe(5);
  const name = await sessionIn(shop);
  expect(away.stderr).toMatch(new RegExp(`\nHint: petstock inventory count ${name} --yes --env staging\n$`));
  shop.service.setFaults([]);
  const confirm = () => Promise.reject(new InterruptedError('Interrupted. Nothing was changed'));
  const stopped = await count(shop, '4\ndone\n', name, { ...person, prompts: { confirm } });
  expect(stopped.code).toBe(130);
  expect(stopped.stderr).toMatch(new RegExp(`\nHint: petstock inventory count ${name} --env staging\n$`));
  expect((await count(shop, '', `${name} --yes`)).written).toEqual(['4 {"quantity":3}']);
});
