import { expect, test } from 'vitest';
import { RowQueue } from '../../src/writes/row-queue.ts';
import type { QueuedRow, Settlement } from '../../src/writes/row-write.ts';
import { SettledRows } from '../../src/writes/settled-rows.ts';
import { propertyRuns } from '../support/property-runs.ts';
import fc from '../support/seeded-fast-check.ts';
import { rowsOf } from './simulated-shop.ts';

const mark = { sequence: 7, at: 0 };
const queued = (rows: number): QueuedRow[] => rowsOf(rows).map((write) => ({ write, mark }));
const step = fc.oneof(
  fc.record({ take: fc.nat(12) }),
  fc.record({ putBack: fc.nat(5) }),
  fc.record({ append: fc.nat(5) }),
  fc.record({ replace: fc.nat(5) }),
  fc.constant({ rest: true }),
);

test('whatever is done to a queue, it has the rows that an array would have, in their order', () => {
  fc.assert(
    fc.property(fc.nat(30), fc.array(step, { maxLength: 30 }), (planned, steps) => {
      const queue = new RowQueue(rowsOf(planned), mark);
      let model = queued(planned);
      for (const one of steps) {
        if ('take' in one) expect(queue.take(one.take)).toEqual(model.splice(0, one.take));
        else if ('rest' in one) expect(queue.rest()).toEqual(model);
        else if ('putBack' in one) {
          queue.putBack(queued(one.putBack));
          model = [...queued(one.putBack), ...model];
        } else if ('append' in one) {
          queue.append(queued(one.append));
          model = [...model, ...queued(one.append)];
        } else {
          queue.replace(queued(one.replace));
          model = queued(one.replace);
        }
        expect(queue.length).toBe(model.length);
      }
      expect(queue.take(1000)).toEqual(model);
    }),
    propertyRuns(200),
  );
});

test('what became of rows is what was noted last', () => {
  const settlement: fc.Arbitrary<Settlement> = fc.oneof(
    fc.constant({ result: 'applied' as const }),
    fc.constant({ result: 'unchanged' as const }),
    fc.record({ result: fc.constant('differs' as const), quantity: fc.nat() }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(400), settlement)), (all) => {
      const settled = new SettledRows();
      const model = new Map(all);
      for (const [row, one] of all) settled.set(row, one);
      expect(settled.size).toBe(model.size);
      const numbers = Array.from({ length: 402 }, (_, row) => row);
      expect(numbers.map((row) => settled.get(row))).toEqual(numbers.map((row) => model.get(row)));
      expect(numbers.filter((row) => settled.has(row))).toEqual(numbers.filter((row) => model.has(row)));
    }),
    propertyRuns(100),
  );
});
