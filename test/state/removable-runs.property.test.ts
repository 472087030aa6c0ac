import { expect, test } from 'vitest';
import { type PrunableRun, removableRuns } from '../../src/state/history.ts';
import fc from '../support/properties.ts';

/** Runs of one or two services in their order, each with what it sent; an undo names an earlier run. */
const histories = fc
  .array(
    fc.record({
      state: fc.constantFrom('done', 'done', 'incomplete', 'running'),
      service: fc.constantFrom('a', 'b'),
      sends: fc.nat(3),
      undoes: fc.option(fc.nat(10), { nil: undefined }),
      isWanted: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  .map((drawn) => {
    const last = new Map([
      ['a', 0],
      ['b', 0],
    ]);
    return drawn.map(({ state, service, sends, undoes, isWanted }, index) => {
      const began = last.get(service) ?? 0;
      last.set(service, began + sends);
      const run: PrunableRun = {
        ...{ run: `${index}`, state, service, began, lastIntent: sends === 0 ? 0 : began + sends },
        undoes: undoes === undefined || undoes >= index ? undefined : `${undoes}`,
      } as PrunableRun;
      return { run, isWanted };
    });
  });

/** Draws a history, and what is removed of it and what stays. */
const removals = histories.map((drawn) => {
  const all = drawn.map(({ run }) => run).toReversed();
  const wanted = new Set(drawn.filter(({ isWanted }) => isWanted).map(({ run }) => run.run));
  const names = new Set(removableRuns(all, wanted));
  return { all, wanted, gone: all.filter(({ run }) => names.has(run)), left: all.filter(({ run }) => !names.has(run)) };
});

test('removes only wanted runs that no process is writing', () => {
  fc.assert(
    fc.property(removals, ({ gone, wanted }) => {
      for (const { run, state } of gone) expect([wanted.has(run), state === 'running']).toEqual([true, false]);
    }),
  );
});

test('keeps what was sent since an open run that stays began, because its rows are checked against it', () => {
  fc.assert(
    fc.property(removals, ({ gone, left, wanted }) => {
      const open = left.filter(({ run, state }) => state === 'running' || (state === 'incomplete' && !wanted.has(run)));
      const needed = gone.filter((run) =>
        open.some((each) => each.service === run.service && run.lastIntent > each.began),
      );
      expect(needed).toEqual([]);
    }),
  );
});

test('keeps the undo of a run that stays, because that could be undone twice', () => {
  fc.assert(
    fc.property(removals, ({ gone, left }) => {
      expect(gone.filter(({ undoes }) => left.some(({ run }) => run === undoes))).toEqual([]);
    }),
  );
});

test('removes all finished runs if nothing is open', () => {
  fc.assert(
    fc.property(histories, (drawn) => {
      const all = drawn.map(({ run }): PrunableRun => ({ ...run, state: 'done' })).toReversed();
      const runs = all.map(({ run }) => run);
      expect(removableRuns(all, new Set(runs))).toEqual(runs);
    }),
  );
});
