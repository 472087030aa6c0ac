import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { commitThenHang, hang } from '../../support/scripted-actions.ts';
import { tenEach } from '../../support/scripted-service.ts';
import { killAt, openTill, type Till, test } from '../../support/till.ts';

const rows = 8;
const stockOf = ({ service }: Till) => Array.from({ length: rows }, (_, index) => service.stockOf(index + 1));
const fives = `petId,delta\n${Array.from({ length: rows }, (_, index) => `${index + 1},+5\n`).join('')}`;
const notesIn = ({ folders }: Till) => readdirSync(folders.state).filter((name) => name.startsWith('leaving-'));

/** Kills an apply of eight deltas with the first row in flight. Another client then changes pets 2 to 4. */
async function killed(till: Till): Promise<string> {
  const run = await killAt(till, hang, `inventory apply ${till.file('a.csv', fives)} --yes --concurrency 1`);
  for (const petId of [2, 3]) till.service.sell(petId, -5);
  till.service.sell(4, 3);
  return run;
}

describe('unsent rows of a killed command', () => {
  test('resumes rows that a killed command never sent, even if another user changed their stock', async () => {
    const till = await openTill({ stock: tenEach(rows) });
    const run = await killed(till);
    const shown = await till.rows();
    expect(shown.map(({ result }) => result)).toEqual(['unknown', ...Array(rows - 1).fill('pending')]);
    await till.exits(`inventory apply --resume ${run} --yes`, 0);
    expect(stockOf(till)).toEqual([15, 20, 20, 12, 15, 15, 15, 15]);
    expect(notesIn(till)).toEqual([]);
    await till.exits('state check', 0);
  });

  test('undo does not touch rows that a killed command never sent', async () => {
    const till = await openTill({ stock: tenEach(rows) });
    const run = await killed(till);
    await till.run(`undo ${run} --yes`);
    expect(stockOf(till)).toEqual([10, 15, 15, 7, 10, 10, 10, 10]);
  });

  test('resumes unsent rows of a run after a second kill', async () => {
    const till = await openTill({ stock: tenEach(rows) });
    const run = await killed(till);
    await killAt(till, commitThenHang, `inventory apply --resume ${run} --yes --concurrency 1`);
    till.service.sell(6, -5);
    await till.exits(`inventory apply --resume ${run} --yes`, 0);
    expect(stockOf(till)).toEqual([15, 20, 20, 12, 15, 20, 15, 15]);
  });
});

test('removes the notes about unsent rows after a resume writes the only unsent row', async () => {
  const till = await openTill({ stock: tenEach(2) });
  const run = await killAt(
    till,
    hang,
    `inventory apply ${till.file('a.csv', 'petId,delta\n1,+5\n2,+5\n')} --yes --concurrency 1`,
  );
  till.service.sell(1, -5);
  await till.exits(`inventory apply --resume ${run} --yes --concurrency 1`, 0);
  expect([stockOf(till).slice(0, 2), notesIn(till)]).toEqual([[15, 15], []]);
});

test('removes the notes about unsent rows of a run that another machine has resumed', async () => {
  const till = await openTill({ stock: tenEach(rows) });
  await killed(till);
  const current = notesIn(till);
  writeFileSync(join(till.folders.state, 'leaving-0000'), 'another\n1\n', { mode: 0o600 });
  await till.exits(`inventory apply ${till.file('b.csv', 'petId,quantity\n7,1\n8,1\n')} --yes`, 0);
  expect(notesIn(till)).toEqual(current);
});

test.for([
  ['notes from another boot', (text: string) => text.replace(/^.*/, 'another')],
  ['invalid notes', () => 'no notes'],
] as const)('a resume ignores %s about unsent rows, and reports unknown rows', async ([, changed]) => {
  const till = await openTill({ stock: tenEach(rows) });
  const run = await killed(till);
  for (const name of notesIn(till)) {
    const file = join(till.folders.state, name);
    writeFileSync(file, changed(readFileSync(file, 'utf8')));
  }
  await till.exits(`inventory apply --resume ${run} --yes`, 8, 'not known');
});
