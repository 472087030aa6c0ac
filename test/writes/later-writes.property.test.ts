import { expect, test } from 'vitest';
import type { PetWrite, RecordedRow } from '../../src/state/history.ts';
import { resumeRow } from '../../src/writes/resume-rows.ts';
import { undoRow } from '../../src/writes/undo-rows.ts';
import { propertyRuns } from '../support/property-runs.ts';
import fc from '../support/seeded-fast-check.ts';

interface Later {
  readonly after: number;
  readonly isCommitted: boolean;
  readonly hasAnswer: boolean;
}

/** Few quantities, so that they meet often. */
const quantity = fc.integer({ min: 8, max: 11 });
const laterWrites = fc.array(fc.record({ after: quantity, isCommitted: fc.boolean(), hasAnswer: fc.boolean() }), {
  maxLength: 4,
});

/** What the history knows of writes that only petstock makes, and where they leave the stock. */
function carryOut(start: number, writes: readonly Later[]) {
  let stock = start;
  const known: PetWrite[] = [];
  for (const [index, { after, isCommitted, hasAnswer }] of writes.entries()) {
    if (isCommitted) stock = after;
    // A refusal is no write.
    if (!isCommitted && hasAnswer) continue;
    const result = hasAnswer ? 'applied' : 'unknown';
    known.push({ run: `run-${index}`, command: 'inventory adjust', result, quantity: after, before: undefined });
  }
  return { known, stock };
}

function rowOf(facts: Pick<RecordedRow, 'before' | 'after' | 'result'>): RecordedRow {
  const nothing = { quantity: undefined, error: undefined, reason: undefined, ref: undefined, at: undefined };
  return { row: 1, line: 1, petId: 7n, sequence: 1, expires: undefined, undoneBy: undefined, ...nothing, ...facts };
}

test('a row is sent again only where no later run has written the pet', () => {
  fc.assert(
    fc.property(
      quantity,
      quantity,
      fc.constantFrom('never sent', 'lost', 'committed'),
      laterWrites,
      (before, after, ours, later) => {
        const { known, stock } = carryOut(ours === 'committed' ? after : before, later);
        const recorded = rowOf({ before, after, result: ours === 'never sent' ? 'pending' : 'unknown' });
        const { row } = resumeRow(recorded, { stock, laterWrites: known });
        if (row.result === 'planned') expect(later.filter(({ isCommitted }) => isCommitted)).toEqual([]);
      },
    ),
    propertyRuns(5000),
  );
});

test('a row is taken back only where no later run has written the pet', () => {
  fc.assert(
    fc.property(
      quantity,
      quantity,
      fc.boolean(),
      fc.boolean(),
      laterWrites,
      (before, after, isCommitted, isKnown, later) => {
        fc.pre(isCommitted || !isKnown);
        const { known, stock } = carryOut(isCommitted ? after : before, later);
        const recorded = rowOf({ before, after, result: isKnown ? 'applied' : 'unknown' });
        const row = undoRow('ours', recorded, { stock, laterWrites: known, lastKnown: before });
        if (row?.result === 'planned') expect(later.filter(({ isCommitted }) => isCommitted)).toEqual([]);
      },
    ),
    propertyRuns(5000),
  );
});
