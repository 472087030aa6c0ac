import { expect } from 'vitest';
import { PetQuantities } from '../../src/inventory/items.ts';
import type { RecordedRow } from '../../src/inventory/run-records.ts';
import type { OtherWrite } from '../../src/state/open-run.ts';
import { undoRow } from '../../src/writes/plan-undo.ts';
import { fateOf, stepOf } from '../../src/writes/rows.ts';
import fc, { property, propertyRuns } from '../support/properties.ts';

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

/** Returns petstock's own writes as the history knows them, and the stock after them. */
function carryOut(start: number, writes: readonly Later[]) {
  let stock = start;
  const known: OtherWrite[] = [];
  for (const [index, { after, isCommitted, hasAnswer }] of writes.entries()) {
    if (isCommitted) stock = after;
    if (!isCommitted && hasAnswer) continue;
    const result = hasAnswer ? 'applied' : 'unknown';
    known.push(writeOf(index, { result, quantity: after, before: undefined }));
  }
  return { known, stock };
}

/** Returns a later write of petstock: the intent of the row is 1. */
function writeOf(index: number, facts: Pick<OtherWrite, 'result' | 'quantity' | 'before'>): OtherWrite {
  return {
    ...{ petId: 7n, run: `run-${index}`, command: 'inventory adjust', intent: index + 2, delta: undefined, row: 1 },
    ...{ inFlightUntil: undefined, undoes: undefined, line: 1, ...facts },
  };
}

const stockOf = (stock: number) => new PetQuantities([[7n, stock]]);

function rowOf(facts: Pick<RecordedRow, 'before' | 'after' | 'result'>): RecordedRow {
  const nothing = { quantity: undefined, error: undefined, reason: undefined, ref: undefined, at: undefined };
  return {
    row: 1,
    line: 1,
    petId: 7n,
    intent: 1,
    outcome: 1,
    inFlightUntil: undefined,
    undoneBy: undefined,
    ...nothing,
    ...facts,
  };
}

property(
  'resends a row only if no later run has written the pet',
  [quantity, quantity, fc.constantFrom('never sent', 'lost', 'committed'), laterWrites],
  propertyRuns(800),
  (before, after, ours, later) => {
    const { known, stock } = carryOut(ours === 'committed' ? after : before, later);
    const recorded = rowOf({ before, after, result: ours === 'never sent' ? 'pending' : 'unknown' });
    const { kind } = stepOf(recorded, {
      ...{ others: known, stock: stockOf(stock), isResumed: true, began: 1, since: 9, sends: 0, mayResend: true },
      zerosLeft: 0,
    });
    if (kind === 'send') expect(later.filter(({ isCommitted }) => isCommitted)).toEqual([]);
  },
);

property(
  "undoes a row only if no later run has changed the pet's stock",
  [quantity, quantity, fc.boolean(), fc.boolean(), laterWrites],
  propertyRuns(800),
  (before, after, isCommitted, isKnown, later) => {
    fc.pre(isCommitted || !isKnown);
    const { known, stock } = carryOut(isCommitted ? after : before, later);
    const recorded = rowOf({ before, after, result: isKnown ? 'applied' : 'unknown' });
    const row = undoRow(recorded, { stock: stockOf(stock), laterWrites: known, target: before });
    if (row.result === 'planned') expect(later.filter((one) => one.isCommitted && one.after !== after)).toEqual([]);
  },
);

/** A write after our run began. Changes by other clients are amounts that no sum of our changes equals. */
const event = fc.oneof(
  fc.record({ kind: fc.constant('adjust' as const), delta: fc.integer({ min: -3, max: 3 }), isLost: fc.boolean() }),
  fc.record({ kind: fc.constant('set' as const), delta: fc.integer({ min: 50, max: 53 }), isLost: fc.constant(false) }),
  fc.record({ kind: fc.constant('stranger' as const), delta: fc.constantFrom(1000, 2000), isLost: fc.constant(false) }),
);

type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns petstock's own events as the history knows them, and the stock after all events. */
function happen(start: number, events: readonly Event[]) {
  let stock = start;
  const known: OtherWrite[] = [];
  for (const [index, { kind, delta, isLost }] of events.entries()) {
    const target = kind === 'set' ? delta : stock + delta;
    const result = isLost ? 'unknown' : 'applied';
    if (kind !== 'stranger') {
      known.push(writeOf(index, { result, quantity: target, before: kind === 'set' ? undefined : stock }));
    }
    stock = target;
  }
  return { known, stock };
}

property(
  'reports a sent row as applied only if it was carried out, and always if the next run read it',
  [fc.constantFrom('lost', 'committed'), fc.array(event, { maxLength: 4 })],
  propertyRuns(800),
  (ours, events) => {
    // The quantity 500 is one that no other event can lead to.
    const [before, after] = [10, 500];
    const { known, stock } = happen(ours === 'committed' ? after : before, events);
    const row = { petId: 7n, before, after, delta: undefined };
    const kind = fateOf(row, { stock: stockOf(stock), later: known, isResumed: true });
    if (kind === 'applied') expect(ours).toBe('committed');
    if (kind === 'send') expect(ours).toBe('lost');
    if (ours === 'committed' && events[0]?.kind === 'adjust') expect(kind).toBe('applied');
  },
);

property(
  'judges a delta as applied only if it was carried out, and as unsent only if it was not',
  [fc.integer({ min: 1, max: 3 }), fc.constantFrom('lost', 'committed'), fc.array(event, { maxLength: 4 })],
  propertyRuns(800),
  (delta, ours, events) => {
    const [before, after] = [10, 10 + delta];
    const { known, stock } = happen(ours === 'committed' ? after : before, events);
    const row = { petId: 7n, before, after, delta };
    const kind = fateOf(row, { stock: stockOf(stock), later: known, isResumed: true });
    if (kind === 'applied') expect(ours).toBe('committed');
    if (kind === 'send') expect(ours).not.toBe('committed');
    // The outcome is known unless someone else changed the stock before it was read.
    if (events[0]?.kind === 'adjust' || events.length === 0) expect(typeof kind).toBe('string');
  },
);
