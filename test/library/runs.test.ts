import { expect } from 'vitest';
import { type ChangeInput, ConflictError, NotFoundError, PartialError, UsageError } from '../../src/library/index.ts';
import { type Shop, stockOf, test } from '../support/shop.ts';
import { clientOf, open } from './rig.ts';

const patches = ({ service }: Shop) =>
  service.journal().flatMap(({ method, path, body }) => (method === 'PATCH' ? [`${path} ${body}`] : []));

test('applies and undoes changes as runs that the command line lists', async () => {
  const { shop, client } = await open();
  const applied = await client.apply([
    { petId: 1n, quantity: 15, expected: 12 },
    { petId: '9007199254740993', delta: '+6', reason: 'delivery' },
    { petId: 2, quantity: 0 },
  ]);
  expect(applied).toMatchObject({
    run: expect.stringMatching(/^\d{8}T\d{6}Z-\w{4}$/),
    dryRun: false,
    error: undefined,
    counts: { applied: 2, unchanged: 1 },
    rows: [
      { line: 1, petId: 1n, before: 12, after: 15, result: 'applied' },
      { line: 2, petId: 9007199254740993n, result: 'applied' },
      { line: 3, petId: 2n, result: 'unchanged' },
    ],
  });
  expect(patches(shop)).toHaveLength(2);
  const undone = await client.undo(applied.run ?? '');
  expect(undone).toMatchObject({ error: undefined, counts: { applied: 2 } });
  await client.close();
  expect((await shop.run('inventory get 1')).stdout).toMatch(/^1\t12\t/);
  const listed = await shop.json('history list --json');
  expect(listed).toMatchObject([
    { run: undone.run, undoes: applied.run },
    { run: applied.run, env: 'staging' },
  ]);
});

test('neither writes nor records a run in a dry run', async () => {
  const { shop, client } = await open();
  const report = await client.apply([{ petId: 1, quantity: 15 }], { dryRun: true });
  expect(report).toMatchObject({ run: undefined, dryRun: true, rows: [{ result: 'planned', before: 12, after: 15 }] });
  expect(patches(shop)).toEqual([]);
});

test.each<[ChangeInput, string]>([
  [{ petId: 1 }, 'change 2: it must have either quantity or delta'],
  [{ petId: 1, quantity: 1, delta: 1 }, 'either quantity or delta'],
  [{ petId: 1, quantity: Number.NaN }, 'change 2: quantity'],
  [{ petId: 1, quantity: 2, expected: 1.5 }, 'change 2: expected'],
  [{ petId: '2', quantity: 3 }, 'change 2: pet 2 is already in change 1'],
  [{ petId: 1, delta: 1, reason: 'a\0b' }, 'change 2: reason contains a NUL character'],
])('refuses the change %o without sending a request', async (change, words) => {
  const { shop, client } = await open();
  const message = expect.stringContaining(words);
  await expect(client.apply([{ petId: 2, quantity: 2 }, change])).rejects.toMatchObject({
    name: 'UsageError',
    message,
  });
  expect(shop.service.journal()).toEqual([]);
});

test('refuses all changes if one pet is unknown or a guard is exceeded', async () => {
  const { shop, client } = await open();
  const changes = [1, 8].map((petId) => ({ petId, quantity: 0 }));
  await expect(client.apply([...changes, { petId: 4242, quantity: 1 }])).rejects.toBeInstanceOf(UsageError);
  await expect(client.apply(changes, { maxZero: 1 })).rejects.toBeInstanceOf(UsageError);
  await expect(client.apply(changes, { maxChanges: 1 })).rejects.toBeInstanceOf(UsageError);
  expect(patches(shop)).toEqual([]);
});

test('reports a conflict if nothing was written, and a partial failure if one row failed', async () => {
  const { shop, client } = await open({}, { faults: ['PATCH /inventory/8:status=400'] });
  const report = await client.apply([{ petId: 1, quantity: 15, expected: 7 }]);
  expect(report.error).toBeInstanceOf(ConflictError);
  expect(report.error?.hint).toBeUndefined();
  expect(report.rows).toMatchObject([{ result: 'conflict', error: { code: 'conflict' } }]);
  expect(patches(shop)).toEqual([]);
  const partly = await client.apply([1, 8].map((petId) => ({ petId, quantity: 15 })));
  expect(partly.error).toBeInstanceOf(PartialError);
  expect(partly.rows.map(({ result }) => result)).toEqual(['applied', 'failed']);
});

test('refuses to undo an unknown run, or a run that was already undone', async () => {
  const { client } = await open();
  await expect(client.undo('20260310T120000Z-zzzz')).rejects.toBeInstanceOf(NotFoundError);
  const { run = '' } = await client.apply([{ petId: 1, quantity: 15 }]);
  await client.undo(run);
  await expect(client.undo(run)).rejects.toThrow("can't be undone");
});

test('refuses apply without a state folder before sending a request', async ({ shop }) => {
  await expect(clientOf(shop).apply([{ petId: 1, quantity: 15 }])).rejects.toBeInstanceOf(UsageError);
  expect(shop.service.journal()).toEqual([]);
});

test('lets the command line resume and undo the runs of a client without a name', async () => {
  const { shop, client } = await open({ name: undefined });
  await client.adjust(4n, 2);
  shop.service.setFaults(['PATCH /inventory/5:status=400']);
  const rows = [5n, 6n].map((petId) => ({ petId, quantity: 7 }));
  await client.apply(rows, { failFast: true, concurrency: 1 });
  await client.close();
  shop.service.setFaults([]);
  const [bulk, single] = await shop.json('history list --json');
  await shop.exits(`undo ${single.run} --yes --env sandbox`, 2, 'Nothing was sent');
  const shown = await shop.exits(
    `history show ${bulk.run}`,
    0,
    `To resume: petstock inventory apply --resume ${bulk.run}\n`,
  );
  expect(shown.stderr).not.toContain('--env');
  await shop.run(`inventory apply --resume ${bulk.run} --yes`);
  await shop.exits(`undo ${single.run} --yes`, 0);
  expect((await stockOf(shop)).get('6')).toBe(7);
});
