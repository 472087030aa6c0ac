import { describe, expect } from 'vitest';
import { answers, normally, tenEach } from '../../support/scripted-service.ts';
import { openTill, type Till, test } from '../../support/till.ts';

const refuses = answers(429, { 'Retry-After': '1' });

const commands = ['adjust 1 2', 'set 1 12 --read-first', 'apply FILE --yes --again'] as const;
const commandOf = (till: Till, command: string) =>
  `inventory ${command.replace('FILE', till.file('a.csv', 'petId,delta\n1,2\n'))}`;

/** The service refuses 12 writes; without an end, a failure of these tests would have none either. */
const refusesWrites = ({ service }: Till) => service.next('PATCH', ...Array(12).fill(refuses));

describe('a service that refuses writes and answers reads', () => {
  test.for(commands)(
    'ends %s after three 429s, with longer waits, also in the next command',
    async (command, { till }) => {
      const { service, clock } = till;
      refusesWrites(till);
      await till.exits(commandOf(till, command), 6);
      expect(service.seen('PATCH')).toHaveLength(3);
      expect(clock.sleeps.map((ms) => ms >= 2000)).toEqual([false, true]);
      expect((await till.exits('inventory adjust 2 1', 6)).sent).toEqual([]);
      clock.advance(5000);
      await till.exits('inventory adjust 2 1', 6, /in (8|9) s/);
      expect(service.seen('PATCH')).toHaveLength(4);
    },
  );

  test('sends few writes of a bulk run after a read that was answered', async () => {
    const till = await openTill({ stock: tenEach(30) });
    till.service.next('PATCH', ...Array(100).fill(refuses));
    const rows = Array.from({ length: 30 }, (_, index) => `${index + 1},1\n`);
    await till.exits(`inventory apply ${till.file('a.csv', `petId,delta\n${rows.join('')}`)} --yes`, 6);
    const methods = till.service.requests.map(({ method }) => method);
    expect(methods.slice(methods.lastIndexOf('GET') + 1).length).toBeLessThanOrEqual(4);
  });

  test('does not count the refused writes against a later read', async ({ till }) => {
    refusesWrites(till);
    await till.exits('inventory adjust 1 2', 6);
    till.clock.advance(5000);
    till.service.next('GET', normally, refuses, refuses);
    await till.exits('inventory get 1', 0);
    await till.exits('inventory get 1', 0);
  });
});

test.for(commands)('goes on with %s if each write is refused twice and then carried out', async (command, { till }) => {
  till.service.next('PATCH', ...Array(4).fill([refuses, refuses, normally]).flat());
  for (let time = 1; time <= 4; time += 1) {
    await till.exits(commandOf(till, command).replace('12', `${12 + time}`), 0);
    till.clock.advance(60_000);
  }
  // The first wait after each success is the shortest again.
  expect(till.clock.sleeps.map((ms) => ms >= 2000)).toEqual(Array(4).fill([false, true]).flat());
});
