import { describe, expect } from 'vitest';
import { normally } from '../../support/scripted-actions.ts';
import { type Till, test } from '../../support/till.ts';
import { stateCopies } from './state-copies.ts';

const keep = (till: Till) => stateCopies(till)('', '.older');
const setBack = (till: Till) => stateCopies(till)('.older', '');

/** Counts a delivery, copies the state at this request, and restores the copy at the end. @returns the session */
async function delivered(till: Till, request: string): Promise<string> {
  await till.exits('inventory set 3 11', 0);
  till.service.next(request, (exchange) => {
    keep(till);
    return normally(exchange);
  });
  await till.exits('inventory count --new --add --yes', 0, [], { stdin: '1 x5\n2 x5\n' });
  setBack(till);
  till.clock.advance(120_000);
  const [{ session }] = await till.json('inventory count --list --json');
  return session;
}

const continueCount = (till: Till, session: string, code: number, said: string) =>
  till.exits(`inventory count ${session} --yes`, code, said, { stdin: '' });

const requireOnce = ({ service }: Till) => expect([1, 2].map((petId) => service.stockOf(petId))).toEqual([15, 15]);

describe('an older state that is restored after a count', () => {
  test('does not add a count twice after an older state is restored and another command runs', async ({ till }) => {
    const session = await delivered(till, 'GET /inventory');
    await till.exits('inventory set 3 12', 0, 'earlier copy');
    await continueCount(till, session, 7, 'not known whether the count was already applied');
    await continueCount(till, session, 2, '--to');
    requireOnce(till);
  });

  test('does not add a count twice after an older state is restored, and suggests a file of its units', async ({
    till,
  }) => {
    const session = await delivered(till, 'GET /inventory');
    const { stderr } = await continueCount(
      till,
      session,
      7,
      'not known whether the count was already applied. Nothing was written',
    );
    expect(stderr).not.toContain('0 rows');
    const file = `count-${session.slice(-4)}.csv`;
    expect(stderr).toContain(`--to ${file}`);
    await continueCount(till, session, 2, `--to ${file}`);
    const { stdout } = await till.exits(`inventory count ${session} --to -`, 0, [], { stdin: '' });
    expect(stdout).toMatch(/^1,,,,5,.*\n2,,,,5,/m);
    requireOnce(till);
  });

  test('refuses to repeat a count if an older state does not know whether its rows were written', async ({ till }) => {
    const session = await delivered(till, 'PATCH');
    await till.exits(`inventory count ${session} --dry-run`, 2, 'not known whether 2 rows were written', { stdin: '' });
    await continueCount(till, session, 2, 'not known whether 2 rows were written');
    const [run] = await till.history();
    await till.exits(`inventory apply --resume ${run?.run} --yes`, 8, 'earlier copy');
    await continueCount(till, session, 2, 'not known whether 2 rows were written');
    requireOnce(till);
  });

  test('lists a session in an older state as unknown, and refuses to resume the session', async ({ till }) => {
    const session = await delivered(till, 'GET /inventory');
    const stateOf = async () => (await till.json('inventory count --list --json'))[0].state;
    expect(await stateOf()).toBe('unknown');
    await till.exits(`inventory count ${session} --dry-run`, 7, 'not known whether the count was already applied', {
      stdin: '',
    });
    await till.exits('inventory set 3 12', 0, 'earlier copy');
    expect(await stateOf()).toBe('unknown');
    await continueCount(till, session, 7, 'not known whether the count was already applied');
    expect(await stateOf()).toBe('unknown');
    requireOnce(till);
  });
});

test('refuses to apply a file of deltas again after an older state is restored and another command runs', async ({
  till,
}) => {
  const apply = `inventory apply ${till.file('a.csv', 'petId,delta\n1,5\n2,5\n')} --yes`;
  await till.exits('inventory set 3 11', 0);
  keep(till);
  await till.exits(apply, 0);
  setBack(till);
  await till.exits('inventory set 3 12', 0, 'earlier copy');
  await till.exits(apply, 7, 'not known whether');
  requireOnce(till);
  // Another file is applied at once, and this file on the second attempt, after the warning.
  await till.exits(`inventory apply ${till.file('b.csv', 'petId,delta\n3,5\n')} --yes`, 0);
  await till.exits(apply, 0);
});

test('refuses to apply a file of deltas again if the state was removed', async ({ till }) => {
  const apply = `inventory apply ${till.file('a.csv', 'petId,delta\n1,5\n2,5\n')} --yes`;
  await till.exits(apply, 0);
  stateCopies(till)('.none', '');
  await till.exits(apply, 7, 'not known whether');
  requireOnce(till);
});

test('applies a file of quantities again after an older state is restored', async ({ till }) => {
  const apply = `inventory apply ${till.file('a.csv', 'petId,quantity\n1,15\n2,15\n')} --yes`;
  await till.exits('inventory set 3 11', 0);
  keep(till);
  await till.exits(apply, 0);
  setBack(till);
  await till.exits(`inventory set 1 14`, 0, 'earlier copy');
  await till.exits(apply, 0);
  requireOnce(till);
});
