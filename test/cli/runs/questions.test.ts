import { expect } from 'vitest';
import { answers, commitThenAnswer, drop } from '../../support/scripted-service.ts';
import { apply, changeFile, confirming, openShop } from '../../support/shop.ts';
import { test } from '../../support/till.ts';

test.for([
  ['a sale is not overwritten', '', 3, { code: 8, stock: [7, 60] }, 'conflict'],
  ['a row is unchanged if others have set its stock', '', -40, { code: 0, stock: [50, 60] }, 'unchanged'],
  ['a resumed row conflicts if its stock has changed', 'resume', 3, { code: 8, stock: [7, 60] }, 'conflict'],
  ['a row is written if its pet was adjusted and adjusted back', 'adjust', 0, { code: 0, stock: [50, 60] }, 'applied'],
] as const)('rereads the stock after a long question: %s', async ([_what, how, units, expected, result], { till }) => {
  const file = till.file('a.csv', 'petId,quantity\n1,50\n2,60\n');
  if (how === 'resume') {
    till.service.next('PATCH', answers(401));
    expect((await till.run(`inventory apply ${file} --yes --concurrency 1`)).code).toBe(4);
  }
  const confirm = async () => {
    till.service.sell(1, units);
    if (how === 'adjust') for (const change of ['+3', '-3']) await till.run(`inventory adjust 1 ${change}`);
    // A plan is read again if it is older than 5 s.
    till.clock.advance(5500);
    return true;
  };
  const command = how === 'resume' ? 'inventory apply --resume latest' : `inventory apply ${file}`;
  const { code } = await till.run(command, { terminal: 100, prompts: { confirm } });
  expect({ code, stock: [1, 2].map(till.service.stockOf) }).toEqual(expected);
  const rows = await till.rows();
  expect(rows.find(({ petId }) => petId === 1)?.result).toBe(result);
  expect(rows.at(-1)).toMatchObject({ petId: 2, result: 'applied' });
});

test.for([
  ['is down', drop, 5],
  ['returns an invalid list', answers(200, {}, '[{}]'), 1],
] as const)(
  'writes nothing if the service %s after the question, until the run is resumed',
  async ([_how, action, exit], { till }) => {
    const file = till.file('a.csv', 'petId,quantity\n1,50\n2,60\n');
    let comeBack = () => {};
    const confirm = async () => {
      till.clock.advance(5500);
      comeBack = till.service.always('GET /inventory', action);
      return true;
    };
    const { code, stderr } = await till.run(`inventory apply ${file}`, { terminal: 100, prompts: { confirm } });
    expect({ code, said: stderr.match(/nothing was written.?/gi) }).toEqual({
      code: exit,
      said: ['Nothing was written:'],
    });
    comeBack();
    expect((await till.run('inventory apply --resume latest --yes')).code).toBe(0);
    expect([1, 2].map(till.service.stockOf)).toEqual([50, 60]);
  },
);

test.for([
  ['adjust 1 -15', 3, 0, -8],
  ['adjust 1 -15', 0, 0, -5],
  ['set 1 -5', 3, 7, 7],
  ['set 1 -5 --expect 10', 3, 7, 7],
  ['set 1 -5', 0, 0, -5],
] as const)(
  'reads the stock again after a question about a negative one: %s, %i sold meanwhile',
  async ([words, sold, code, stock], { till }) => {
    const confirm = async (question: string) => {
      expect(question).toContain('10 → -5');
      till.service.sell(1, sold);
      expect(till.service.seen('PATCH')).toEqual([]);
      return true;
    };
    const { code: end } = await till.run(`inventory ${words}`, { terminal: 100, prompts: { confirm } });
    expect({ code: end, stock: till.service.stockOf(1) }).toEqual({ code, stock });
    expect(till.service.seen('GET')).toHaveLength(2);
  },
);

test('reads the stock again if another command may have written it during the question', async ({ till }) => {
  const file = till.file('a.csv', 'petId,quantity\n1,50\n');
  const confirm = async () => {
    till.service.next('PATCH', commitThenAnswer(503));
    const comeBack = till.service.always('GET', answers(500));
    await till.exits('inventory set 1 20 --retries 0', 8);
    comeBack();
    return true;
  };
  await till.exits(`inventory apply ${file}`, 7, [], { terminal: 100, prompts: { confirm } });
  expect(till.service.stockOf(1)).toBe(20);
});

test.for([
  ['--max-zero 0', '--yes --max-zero 0'],
  ['the answer no', ''],
] as const)('resumes all rows even after %s stopped an earlier resume', async ([_by, options], { till }) => {
  const file = till.file('sales.csv', 'petId,delta\n1,-10\n2,-7\n3,-1\n');
  till.service.next('PATCH', answers(401));
  expect((await till.run(`inventory apply ${file} --yes --concurrency 1`)).code).toBe(4);
  till.service.sell(2, 8);
  const resume = 'inventory apply --resume latest';
  const prompts = { confirm: () => Promise.resolve(false) };
  const refused = await till.run(`${resume} ${options}`.trim(), { terminal: 100, prompts });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/othing more was\s+written/) });
  till.service.sell(2, -8);
  expect((await till.run(`${resume} --yes`)).code).toBe(0);
  expect([1, 2, 3].map(till.service.stockOf)).toEqual([0, 3, 9]);
});

const reads = ['get 1', 'get 1 2', 'adjust 1 +1', 'set 1 9 --expect 5', 'set 1 9 --read-first'];

test.for([...reads, 'apply FILE --yes'])(
  '%s refuses a list that contains a pet twice, and writes nothing',
  async (command, { till }) => {
    const twice = '[{"petId":1,"quantity":5,"status":"available"},{"petId":1,"quantity":7,"status":"available"}]';
    till.service.always('GET /inventory', ({ answer }) => answer(200, twice));
    const file = till.file('changes.csv', 'petId,quantity\n1,3\n');
    const result = await till.run(`inventory ${command.replace('FILE', file)}`);
    expect(result).toMatchObject({ code: 1, stdout: '' });
    const end = command.startsWith('get') ? '' : ' Nothing was written.';
    expect(result.stderr).toContain(`pet 1 appears twice.${end}\n`);
    expect(till.service.seen('PATCH')).toEqual([]);
  },
);

/** Returns options of a terminal at which every question gets this answer, and the questions. */
function person(answer = true) {
  const { asked, prompts } = confirming(answer);
  return { asked, options: { terminal: 100, env: { NO_COLOR: '1' }, prompts } };
}

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
  await apply(shop, 'petId,quantity\n4,1\n5,7\n6,8\n', ['--concurrency', '1']);
  shop.service.setFaults([]);
  const { asked, options } = person();
  const told = /Run \S+ \(inventory apply\): 2 of 3 written\./;
  const { stderr } = await shop.exits('inventory apply --resume latest', 0, told, options);
  expect(stderr).not.toMatch(/39 →/);
  expect(asked).toEqual(['Pet 6 in staging: 14 → 8 (-6), 2 of 3 written. Write this change?']);
});
