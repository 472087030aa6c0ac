import { parseArgs } from 'node:util';
import { createSystemClock } from '../../../src/shared/system-clock.ts';
import { createSystemProcesses } from '../../../src/shared/system-processes.ts';
import type { PlannedRow, RunHead } from '../../../src/state/history.ts';
import { openState } from '../../../src/state/open-state.ts';
import type { State } from '../../../src/state/state.ts';
import { temporaryFolder } from '../support/folders.ts';

const clock = createSystemClock(process.hrtime.bigint);
const processes = createSystemProcesses({ pid: process.pid, boot: clock.boot(), kill: process.kill.bind(process) });
const head: RunHead = {
  command: 'inventory apply',
  env: 'staging',
  store: undefined,
  baseUrl: 'https://pets.example/v1',
  service: 'https://pets.example/v1',
  scope: '0123456789abcdef',
  user: 'ann',
  unchanged: 0,
};

const open = (folder: string): Promise<State> =>
  openState({
    folder,
    need: 'history',
    clock,
    processes,
    random: Math.random,
    command: 'inventory apply',
    warn: (line) => process.stderr.write(`${line}\n`),
  });

function* rows(count: number): Generator<PlannedRow> {
  for (let row = 1; row <= count; row += 1) {
    const petId = 9_000_000_000_000_000_000n + BigInt(row);
    yield { row, line: row + 1, petId, before: row, after: row + 5, reason: 'stock-take', ref: undefined };
  }
}

async function measure(name: string, times: number, work: () => Promise<unknown>): Promise<void> {
  const cpu = process.cpuUsage();
  const start = clock.monotonic();
  for (let time = 0; time < times; time += 1) await work();
  const wall = (clock.monotonic() - start) / times;
  const { user, system } = process.cpuUsage(cpu);
  process.stdout.write(`${name}: ${wall.toFixed(3)} ms, ${((user + system) / 1000 / times).toFixed(3)} ms CPU\n`);
}

async function all(items: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of items) count += 1;
  return count;
}

async function measureLists(state: State, runs: number): Promise<void> {
  await measure(`list of the newest 20 of ${runs} runs`, 20, () => all(state.history.runs({ limit: 20 })));
  await measure(`find the last of ${runs} runs`, 20, async () => {
    for await (const { run } of state.history.runs({ limit: 1 }))
      await state.history.find(run.slice(-4)).catch(() => {});
  });
  await measure(`list of one pet of ${runs} runs`, 20, () => all(state.history.runs({ limit: 20, petId: 5n })));
}

async function measureWrites(state: State): Promise<void> {
  const log = await state.history.begin(head, rows(64 * 40));
  let from = 1;
  const batch = (size: number) => {
    const expires = clock.monotonic() + 30_000;
    const intents = [...rows(from + size - 1)].slice(from - 1).map(({ row, petId }) => ({ row, petId, expires }));
    from += size;
    return intents;
  };
  const mark = await state.pets.mark();
  await measure('intend of 64 rows, with the outcomes of 64', 20, async () => {
    const intents = batch(64);
    await log.intend(intents, mark);
    await log.settle(intents.map(({ row, petId }) => ({ row, petId, result: 'applied', quantity: row + 5 })));
  });
  await measure('intend of one row', 20, async () => {
    const [intent] = batch(1);
    if (intent) await log.intend([intent], mark);
  });
  await log.end();
}

/**
 * `npm run bench -- state [--quick]`: what the calls of the state cost, within one process. Prints a line for each figure.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { quick: { type: 'boolean', default: false } } });
  const many = values.quick ? 1000 : 10_000;
  const { path: folder, remove } = temporaryFolder();
  try {
    await measure('open a new state', 1, async () => (await open(folder)).close());
    await measure('open', 50, async () => (await open(folder)).close());
    const state = await open(folder);
    const record = { type: 'start', boot: clock.boot(), env: 'staging', at: 1, wall: clock.now() } as const;
    await measure('fold', 5000, () => state.limits.fold('abc', [record]));
    await measure('peek', 5000, async () => state.limits.peek('abc'));
    await measureWrites(state);
    const before = process.memoryUsage().rss;
    await measure('begin of 100,000 rows', 1, async () => (await state.history.begin(head, rows(100_000))).end());
    process.stdout.write(`  ${((process.memoryUsage().rss - before) / 1e6).toFixed(0)} MB more\n`);
    for await (const { run: id } of state.history.runs({ limit: 1 })) {
      await measure('stream 100,000 rows', 1, () => all(state.history.rows(id)));
    }
    await measureLists(state, 10);
    for (let run = 0; run < many; run += 1) await (await state.history.begin(head, rows(1))).end();
    await measureLists(state, many);
    await state.close();
  } finally {
    remove();
  }
}
