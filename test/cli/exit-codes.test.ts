import { expect } from 'vitest';
import { type ExitCodeName, exitCodes } from '../../src/shared/errors.ts';
import { errorJson, openShop, test } from '../support/shop.ts';

/** What is served, what is run against it, and the class that it ends with. */
const cases: readonly (readonly [serve: string, command: string, exit: ExitCodeName])[] = [
  ['', 'inventory list', 'ok'],
  ['', '--version', 'ok'],
  ['', '--help', 'ok'],
  ['', 'inventory', 'ok'],
  ['*:malform', 'inventory list', 'failure'],
  ['', 'inventory lst', 'usage'],
  ['', 'inventory set 1 1.5', 'usage'],
  ['', 'inventory list --env nowhere', 'usage'],
  ['', 'inventory list --no-such-option', 'usage'],
  ['', '--env production inventory list', 'usage'],
  ['*:status=401', 'inventory list', 'auth'],
  ['*:status=500', 'inventory list', 'unavailable'],
  ['*:hang', 'api POST /inventory --timeout 0.05', 'unavailable'],
  ['*:status=429:retry-after=3000', 'inventory list', 'rate-limited'],
  ['', 'inventory set 1 5 --expect 123456', 'conflict'],
  ['', 'inventory get 4242', 'not-found'],
  ['', 'inventory set 4242 5', 'not-found'],
  ['', 'pets get 4242', 'not-found'],
  ['*:status=400', 'inventory set 1 5', 'rejected'],
  ['*:status=403', 'inventory list', 'rejected'],
];

test.each(cases)('%s: %s: %s, with --json too', async (fault, command, exit) => {
  const code = exitCodes[exit];
  for (const flag of exit === 'ok' ? [''] : ['', ' --json']) {
    const shop = await openShop(fault === '' ? {} : { faults: [fault] });
    // A request that hangs runs out of time.
    const onSent = () => void (fault.endsWith(':hang') && setImmediate(() => shop.clock.expireDeadlines()));
    const { stdout, stderr } = await shop.exits(`${command}${flag}`, code, [], { onSent });
    if (exit === 'ok') return expect(stderr).not.toContain('Error: ');
    expect(stdout).toBe('');
    expect(stderr).not.toMatch(/defect|^ {4}at /m);
    if (flag === '') expect(stderr).toMatch(/^Error: .+$/m);
    else {
      const [about, message] = [expect.any(String), expect.any(String)];
      expect(errorJson(stderr).error).toMatchObject({ code: about, message, kind: exit, exitCode: code });
    }
  }
});

test('a run in part: its report on stdout, and an error that names it', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/5:status=400'] });
  const { stdout, stderr } = await shop.exits('inventory set 4=1 5=2 --yes -q --json', exitCodes.partial);
  const { run, counts } = JSON.parse(stdout);
  expect(counts).toMatchObject({ applied: 1, failed: 1 });
  expect(JSON.parse(stderr)).toMatchObject({ error: { kind: 'partial', exitCode: exitCodes.partial, run } });
});

test('in a script -q is silent on success, and heard of danger', async ({ shop }) => {
  const silent = { code: 0, stderr: '' };
  const stdin = 'petId,quantity\n4,1\n5,2\n';
  const commands = ['inventory apply - --yes', 'inventory list', 'history export', 'limits', 'undo --last --yes'];
  for (const command of commands) expect(await shop.run(`${command} -q`, { stdin }), command).toMatchObject(silent);
  const said = /^Error: Nothing was written: pet 4: .*\nHint: petstock /;
  const conflict = { stdin: 'petId,quantity,expected\n4,1,77\n' };
  await shop.exits('inventory apply - --yes -q', exitCodes.conflict, said, conflict);
});
