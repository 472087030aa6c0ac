import { expect, test } from 'vitest';
import { type Petstock, petstockAt } from '../support/petstock.ts';
import { scriptedService, until } from '../support/scripted-service.ts';

const pets = 20_000;
/** The number of pets with a different stock in the morning. */
const changed = pets / 5;
/** 600 requests a minute, with minutes of 2 s. */
const limit = { limit: 600, seconds: 2 };

interface SettledRow {
  readonly seq: number;
  readonly run: string;
  readonly petId: number;
  readonly before: number;
  readonly after: number;
  readonly result: string;
}

async function exported(petstock: Petstock, after?: number): Promise<readonly SettledRow[]> {
  const cursor = after === undefined ? '' : ` --after ${after}`;
  const { code, stdout, stderr } = await petstock.run(`history export -q${cursor}`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout === ''
    ? []
    : (stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)) as SettledRow[]);
}

test('exports by cursor all rows of a sync of 20,000 pets that was killed and resumed', async () => {
  const stock = Object.fromEntries(Array.from({ length: pets }, (_, index) => [`${index + 1}`, 100]));
  const service = await scriptedService({ stock, limit });
  const petstock = petstockAt(service);
  const quantityOf = (petId: number) => (petId % 5 === 0 ? 100 + (petId % 97) + 1 : 100);
  const lines = Array.from({ length: pets }, (_, index) => `${index + 1},${quantityOf(index + 1)}`);
  const file = petstock.file('night.csv', ['petId,quantity', ...lines]);
  const written = () => service.seen('PATCH').filter(({ status }) => status === 200).length;

  const loaded: SettledRow[] = [];
  let isNight = true;
  const load = async () => {
    loaded.push(...(await exported(petstock, loaded.at(-1)?.seq)));
  };
  const loading = async () => {
    while (isNight) await load();
  };
  const program = petstock.start(['inventory', 'apply', file, '--yes', '-q', '--timeout', '2']);
  await until(() => expect(written()).toBeGreaterThan(changed / 3));
  const warehouse = loading();
  await until(() => expect(written()).toBeGreaterThan(changed / 2));
  program.kill('SIGKILL');
  expect((await program.result).signal).toBe('SIGKILL');
  const resumed = await petstock.run('inventory apply --resume latest --yes --timeout 2 --json --changed');
  isNight = false;
  await warehouse;
  await load();

  expect({ code: resumed.code, stderr: resumed.code === 0 ? '' : resumed.stderr }).toEqual({ code: 0, stderr: '' });
  expect(loaded).toEqual(await exported(petstock));
  const rows = loaded.map(({ petId, before, after, result }) => ({ petId, before, after, result }));
  expect(rows.sort((a, b) => a.petId - b.petId)).toEqual(
    Array.from({ length: changed }, (_, index) => (index + 1) * 5).map((petId) => {
      return { petId, before: 100, after: quantityOf(petId), result: 'applied' };
    }),
  );
  // A row without a response was reread, and not sent again if it had been written.
  expect(service.seen('PATCH')).toHaveLength(changed);
  expect(service.requests.filter(({ status }) => status === 429)).toEqual([]);
  expect(Array.from({ length: pets }, (_, index) => service.stockOf(index + 1))).toEqual(
    Array.from({ length: pets }, (_, index) => quantityOf(index + 1)),
  );
});
