import type { RecordedRow, RunRecord } from '../../src/inventory/run-records.ts';

const counts = {
  pending: 0,
  applied: 0,
  unchanged: 0,
  failed: 0,
  conflict: 0,
  differs: 0,
  unknown: 0,
  skipped: 0,
  notEdited: 0,
};

type RunChanges = Partial<Omit<RunRecord, 'counts'>> & { readonly counts?: Partial<RunRecord['counts']> };

/** Returns a run of one written row, with the properties in `changes` replaced. */
export function runOf(changes: RunChanges = {}): RunRecord {
  return {
    run: '20260114T140000Z-0001',
    at: Date.parse('2026-01-14T14:00:00Z'),
    env: 'staging',
    store: undefined,
    baseUrl: 'https://shop.example/v1',
    service: 'https://shop.example',
    scope: '',
    command: 'inventory set',
    user: undefined,
    host: 'till-1',
    pid: 7,
    undoneBy: [],
    undone: 0,
    began: 0,
    state: 'done',
    isDiscarded: false,
    changes: 1,
    unchanged: 0,
    units: 1n,
    pets: [22n],
    ...changes,
    counts: { ...counts, ...(changes.counts ?? { applied: 1 }) },
  };
}

export const largeRun = runOf({
  run: '20260115T120020Z-k3x9',
  at: Date.parse('2026-01-15T12:00:20.123Z'),
  env: 'production',
  store: 'north',
  command: 'inventory apply',
  user: 'anna',
  file: 'stock.csv',
  reason: 'stock-take',
  changes: 1203,
  units: 4000n,
  undoneBy: ['20260115T130000Z-aaaa', '20260115T140000Z-bbbb'],
  undone: 1195,
  pets: [4n, 9007199254740993n, 9223372036854775807n],
  counts: { applied: 1195, unchanged: 7, failed: 2, conflict: 3, unknown: 2, differs: 1 },
});

/** Returns a written row, with the properties in `rest` replaced. */
export function rowOf(row: number, rest: Partial<RecordedRow> = {}): RecordedRow {
  return {
    row,
    line: row,
    petId: 42n,
    before: 7,
    after: 12,
    result: 'applied',
    quantity: 12,
    error: undefined,
    reason: undefined,
    ref: undefined,
    undoneBy: undefined,
    inFlightUntil: undefined,
    intent: row,
    outcome: row,
    at: Date.parse('2026-01-15T12:00:21Z'),
    ...rest,
  };
}

export async function* streamed<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
