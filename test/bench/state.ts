import type { PlannedRow } from '../../src/inventory/run-records.ts';
import type { State } from '../../src/state/state.ts';
import { temporaryFolder } from './support/children.ts';
import { type Options, type Report, table } from './support/report.ts';
import { clock, headOf, openBenchState } from './support/state.ts';

const head = headOf('https://pets.example/v1');

/** Measures the time and the CPU time of the state's calls in one process, with SQLite. */
export async function run({ isQuick }: Options): Promise<Report> {
  const many = isQuick ? 1000 : 10_000;
  const folder = temporaryFolder();
  const figures: string[][] = [['', 'ms', 'CPU ms']];
  const measure: Measure = async (name, times, work) => {
    const cpu = process.cpuUsage();
    const start = clock.monotonic();
    for (let time = 0; time < times; time += 1) await work();
    const wall = (clock.monotonic() - start) / times;
    const { user, system } = process.cpuUsage(cpu);
    figures.push([name, wall.toFixed(3), ((user + system) / 1000 / times).toFixed(3)]);
  };
  await measure('open a new state', 1, async () => (await openBenchState(folder)).close());
  await measure('open', 50, async () => (await openBenchState(folder)).close());
  const state = await openBenchState(folder);
  const record = { type: 'start', boot: clock.boot(), env: 'staging', at: 1, wall: clock.now() } as const;
  await measure('fold', 5000, () => state.limits.fold('abc', [record]));
  await measure('peek', 5000, async () => state.limits.peek('abc'));
  await measureWrites(state, measure);
  await measure('begin of 100,000 rows', 1, async () => (await state.history.begin(head, rows(100_000))).end());
  for await (const { run: id } of state.history.runs({ limit: 1 })) {
    await measure('stream 100,000 rows', 1, () => all(state.history.rows(id)));
  }
  await measureLists(state, 10, measure);
  for (let run = 0; run < many; run += 1) await (await state.history.begin(head, rows(1))).end();
  await measureLists(state, many, measure);
  await state.close();
  return { text: table(figures), goals: [] };
}

type Measure = (name: string, times: number, work: () => Promise<unknown>) => Promise<void>;

function* rows(count: number): Generator<PlannedRow> {
  for (let row = 1; row <= count; row += 1) {
    const petId = 9_000_000_000_000_000_000n + BigInt(row);
    yield { row, line: row + 1, petId, before: row, after: row + 5, reason: 'stock-take', ref: undefined };
  }
}

async function all(items: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of items) count += 1;
  return count;
}

async function measureLists(state: State, runs: number, measure: Measure): Promise<void> {
  await measure(`list of the newest 20 of ${runs} runs`, 20, () => all(state.history.runs({ limit: 20 })));
  await measure(`list of one pet of ${runs} runs`, 20, () => all(state.history.runs({ limit: 20, petId: 5n })));
}

async function measureWrites(state: State, measure: Measure): Promise<void> {
  const log = await state.history.begin(head, rows(64 * 40));
  let from = 1;
  const batch = (size: number) => {
    const expires = clock.monotonic() + 30_000;
    const intents = [...rows(from + size - 1)]
      .slice(from - 1)
      .map(({ row, petId }) => ({ row, petId, inFlightUntil: expires }));
    from += size;
    return intents;
  };
  const readVersion = (await state.pets.beginRead(head.serviceName, [])).readVersion;
  await measure('intend of 64 rows, with the outcomes of 64', 20, async () => {
    const intents = batch(64);
    await log.intend(intents, readVersion);
    await log.settle(intents.map(({ row, petId }) => ({ row, petId, result: 'applied', quantity: row + 5 })));
  });
  await measure('intend of one row', 20, () => log.intend(batch(1), readVersion));
  await log.end();
}
