import { expect } from 'vitest';
import { type ExitCodeName, exitCodes } from '../../src/shared/errors.ts';
import { openShop, test } from '../support/shop.ts';

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

/** Runs the command; a request that hangs runs out of time. */
async function run(fault: string, command: string) {
  const shop = await openShop(fault === '' ? {} : { faults: [fault] });
  const hangs = fault.endsWith(':hang');
  return shop.run(command, hangs ? { onSent: () => void setImmediate(() => shop.clock.expireDeadlines()) } : {});
}

test.each(cases)('%s: %s: %s', async (fault, command, exit) => {
  const { code, stdout, stderr } = await run(fault, command);
  expect(code).toBe(exitCodes[exit]);
  if (exit === 'ok') return expect(stderr).not.toContain('Error: ');
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^Error: .+$/m);
  expect(stderr).not.toMatch(/defect|^ {4}at /m);
});

test.each(cases.filter(([, , exit]) => exit !== 'ok'))('%s: %s --json: %s', async (fault, command, exit) => {
  const { code, stdout, stderr } = await run(fault, `${command} --json`);
  expect({ code, stdout }).toEqual({ code: exitCodes[exit], stdout: '' });
  // The banner of a write comes before it.
  const { error } = JSON.parse(stderr.split('\n').at(-2) ?? '');
  expect(error).toMatchObject({
    code: expect.any(String),
    message: expect.any(String),
    kind: exit,
    exitCode: exitCodes[exit],
  });
});

test('a run in part: its report on stdout, and an error that names it', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/5:status=400'] });
  const { code, stdout, stderr } = await shop.run('inventory set 4=1 5=2 --yes -q --json');
  const { run, counts } = JSON.parse(stdout);
  expect(counts).toMatchObject({ applied: 1, failed: 1 });
  expect(code).toBe(exitCodes.partial);
  expect(JSON.parse(stderr)).toMatchObject({ error: { kind: 'partial', exitCode: code, run } });
});

test('in a script -q is silent on success, and heard of danger', async ({ shop }) => {
  const apply = (stdin: string) => shop.run('inventory apply - --yes -q', { stdin });
  expect(await apply('petId,quantity\n4,1\n5,2\n')).toMatchObject({ code: 0, stderr: '' });
  for (const quiet of ['inventory list -q', 'history export -q', 'limits -q', 'undo --last --yes -q']) {
    expect(await shop.run(quiet), quiet).toMatchObject({ code: 0, stderr: '' });
  }
  const conflict = await apply('petId,quantity,expected\n4,1,77\n');
  expect(conflict.code).toBe(exitCodes.conflict);
  expect(conflict.stderr).toMatch(/^Error: Nothing was written: pet 4: .*\nHint: petstock /);
});
