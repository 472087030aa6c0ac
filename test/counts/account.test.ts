import { expect, test } from 'vitest';
import { accountOf, assignedCodes, boundCodes, hashOf, isPartial, mergedOf } from '../../src/counts/account.ts';
import { record, type SessionContent } from '../../src/counts/session-tables.ts';
import { noBarCodes } from '../../src/inventory/bar-codes.ts';

type Scans = SessionContent['scans'];
const codes = { ...noBarCodes, pets: new Map([['007', 7n]]) };
const session = (...scans: Scans) =>
  ({ head: { session: 's', mode: 'count' }, codes, scans }) as unknown as SessionContent;
const scan = (kind: 'add' | 'set' | 'base', what: bigint | string, units: number) =>
  typeof what === 'bigint'
    ? record(kind, { units, code: `${what}`, pet: what })
    : record(kind, { units, code: what, pet: codes.pets.get(what) });
const given = (pet: bigint, units: number) => record('given', { pet, units });
const [run, settled] = [record('run', { code: 'r' }), record('settled')];

/** Returns the units still to be written, the pets already written, and the pets handed over to a run. */
const stateOf = (...scans: Scans) => {
  const { tally, written, handedOver, runs, run, isSettled, isEmpty } = accountOf(session(...scans));
  const counts = [...tally.counts(), ...tally.unknowns()].map(([what, units]) => `${what}:${units}`).join(' ');
  return { counts, written: [...written], handedOver: [...handedOver], runs, run, isSettled, isEmpty };
};
const idle = { written: [], handedOver: [], runs: 0, run: undefined, isSettled: true, isEmpty: false };

test.each<[string, Scans, object]>([
  [
    'adds units and sets a count',
    [scan('add', 4n, 2), scan('set', '007', 5), scan('add', 'x', 1)],
    { ...idle, counts: '4:2 7:5 x:1' },
  ],
  ['cancels the last scan', [scan('add', 4n, 2), scan('add', 4n, 1), record('back')], { ...idle, counts: '4:2' }],
  ['hands a count over to a run', [scan('add', 4n, 3), given(4n, 3)], { ...idle, handedOver: [[4n, 3]], counts: '' }],
  [
    'restores counts that no run has taken over',
    [scan('add', 4n, 3), given(4n, 3), settled],
    { ...idle, counts: '4:3' },
  ],
  [
    'lists the pets that a run has written',
    [scan('add', 4n, 3), given(4n, 3), run],
    { ...idle, written: [4n], runs: 1, run: 'r', isSettled: false, isEmpty: true, counts: '' },
  ],
  [
    'adds units to a written pet',
    [scan('add', 4n, 3), given(4n, 3), run, settled, scan('add', 4n, 2)],
    { ...idle, written: [4n], runs: 1, run: 'r', counts: '4:2' },
  ],
  [
    'restarts the count of a written pet once it is set',
    [scan('add', 4n, 3), given(4n, 3), run, settled, scan('set', 4n, 2)],
    { ...idle, runs: 1, run: 'r', counts: '4:2' },
  ],
  [
    'restarts the count of a written pet on request',
    [scan('add', 4n, 3), given(4n, 3), run, settled, record('again', { pet: 4n }), scan('add', 4n, 2)],
    { ...idle, runs: 1, run: 'r', counts: '4:2' },
  ],
])('%s', (_what, scans, expected) => {
  expect(stateOf(...scans)).toEqual(expected);
});

test('moves the units of pet 4 to pet 9 if 4 becomes a code of pet 9, unless pet 4 was written', () => {
  const taught = record('code', { code: '4', pet: 9n });
  expect(stateOf(scan('add', 4n, 1), taught).counts).toBe('9:1');
  expect(stateOf(scan('add', 4n, 1), given(4n, 1), run, settled, taught, scan('add', 4n, 1)).counts).toBe('4:1');
});

test('binds scanned codes to the pets that are assigned to them later', () => {
  const scans = ['a', 'b', 'c', 'd'].map((code, index) =>
    record((['add', 'set', 'base', 'seen'] as const)[index] ?? 'add', { units: 1, code, pet: undefined }),
  );
  const taught = ['a', 'b', 'c', 'd'].map((code) => record('code', { code, pet: 9n }));
  const all = session(...scans, ...taught);
  expect(boundCodes(all, accountOf(all)).map(({ kind, code, pet }) => [kind, code, pet])).toEqual([
    ['code', 'a', 9n],
    ['code', 'b', 9n],
    ['code', 'c', 9n],
  ]);
});

test('drops a code whose assignment was withdrawn', () => {
  const scans = [
    record('code', { code: 'a', pet: 9n }),
    record('code', { code: 'b', pet: 8n }),
    record('code', { code: 'a' }),
  ];
  expect([...assignedCodes(scans)]).toEqual([['b', 8n]]);
});

test('merges counts, written pets and the stocks that were seen', () => {
  const one = session(scan('add', '007', 2), scan('add', 4n, 1), record('seen', { pet: 7n, units: 20 }));
  const two = session(
    scan('add', 7n, 1),
    scan('add', 'x', 3),
    scan('add', 5n, 1),
    given(5n, 1),
    run,
    record('seen', { pet: 7n, units: 30 }),
  );
  const merged = mergedOf([one, two], undefined);
  expect(merged.scans.map(({ kind, units, code, pet }) => [kind, units, code, pet])).toEqual([
    ['given', 0, '', 5n],
    ['run', 0, '', undefined],
    ['settled', 0, '', undefined],
    ['seen', 30, '', 7n],
    ['seen', 20, '', 7n],
    ['base', 3, '', 7n],
    ['base', 1, '4', 4n],
    ['base', 3, 'x', undefined],
  ]);
  expect(mergedOf([one], undefined).scans.map(({ kind }) => kind)).toEqual(['seen', 'base', 'base']);
  expect([isPartial(one), isPartial(two), isPartial(merged)]).toEqual([false, true, true]);
  expect(() => mergedOf([], undefined)).toThrow('nothing to merge');
});

test('changes the hash of a session with each run', () => {
  const begun = session(scan('add', 4n, 1), given(4n, 1), run);
  // The history stores this hash, so it must never change.
  expect(hashOf(session())).toMatch(/^8ba5fe4eb9b9/);
  expect(hashOf(session())).toBe(hashOf(session(scan('add', 4n, 1))));
  expect(hashOf(begun)).not.toBe(hashOf(session()));
  expect(hashOf(session(...begun.scans, run))).not.toBe(hashOf(begun));
});
