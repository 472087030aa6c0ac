import { describe, expect, test } from 'vitest';
import { petstockAt } from '../../support/petstock.ts';
import { scriptedService } from '../../support/scripted-service.ts';

test('a sale while the confirmation stands open is not overwritten', async () => {
  const service = await scriptedService();
  const petstock = petstockAt(service);
  const file = petstock.file('a.csv', ['petId,quantity', '1,50', '2,60']);
  const program = petstock.start(`inventory apply ${file}`, { terminal: 100 });
  await program.until('stdout', 'Write 2 changes');
  service.sell(1, 3);
  // A plan is read again where it is older than 5 s.
  await service.untilQuiet(5500);
  program.type('y\r');
  const { code } = await program.result;
  expect({ code, one: service.stockOf(1), two: service.stockOf(2) }).toEqual({ code: 8, one: 7, two: 60 });
  const { run } = await petstock.newest();
  expect(await petstock.rows(run)).toMatchObject([
    { petId: 1, result: 'conflict' },
    { petId: 2, result: 'applied' },
  ]);
});

describe('a stock below zero', () => {
  test.each(['set 1 -5', 'adjust 1 -15'])('%s asks on a terminal, and no is exit 2', async (command) => {
    const service = await scriptedService();
    const program = petstockAt(service).start(`inventory ${command}`, { terminal: 100 });
    await program.until('stdout', 'BELOW ZERO');
    program.type('n\r');
    expect(await program.result).toMatchObject({ code: 2 });
    expect(service.seen('PATCH')).toEqual([]);
    expect(service.stockOf(1)).toBe(10);
  });

  test('a sale while the question stands open is not overwritten', async () => {
    const service = await scriptedService();
    const program = petstockAt(service).start('inventory adjust 1 -15', { terminal: 100 });
    await program.until('stdout', 'BELOW ZERO');
    service.sell(1, 3);
    await service.untilQuiet(5500);
    expect(service.seen('PATCH')).toEqual([]);
    program.type('y\r');
    // It asks again, about the stock of now.
    await program.until('stdout', '7 → -8');
    expect(service.seen('PATCH')).toEqual([]);
    program.type('y\r');
    expect(await program.result).toMatchObject({ code: 0 });
    expect(service.stockOf(1)).toBe(-8);
  });

  test('the preview of apply counts it apart', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    const file = petstock.file('a.csv', ['petId,quantity', '1,0', '2,-1', '3,5']);
    const { stderr } = await petstock.run(`inventory apply ${file} --dry-run`);
    expect(stderr).toContain('1 pet goes to 0');
    expect(stderr).toContain('1 pet goes below 0');
  });
});
