import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { propertyRuns } from '../../support/property-runs.ts';
import { answers, commitThenDrop, commitThenHang, drop, hang, normally } from '../../support/scripted-actions.ts';
import { tenEach } from '../../support/scripted-service.ts';
import fc, { property } from '../../support/seeded-fast-check.ts';
import { openTill, type Till } from '../../support/till.ts';

const files = 3;
const rowsOfFile = 4;

/** What becomes of one request of a run; the run is over then if it is killed, or refused with --fail-fast. */
const ends = { hang, commitThenHang, drop, commitThenDrop, refused: answers(400), normally } as const;
type End = keyof typeof ends;

const end = fc.constantFrom('normally', ...(Object.keys(ends) as End[]));
const place = { at: fc.nat(rowsOfFile - 1), end };
const order = fc.oneof(
  fc.record({ kind: fc.constant('apply' as const), file: fc.nat(files - 1), ...place }),
  fc.record({ kind: fc.constant('resume' as const), back: fc.nat(1), ...place }),
  fc.record({ kind: fc.constant('resume' as const), back: fc.nat(1), ...place }),
  fc.record({ kind: fc.constant('set' as const) }),
);
const orders = fc.array(order, { minLength: 1, maxLength: 4 });
type Order = typeof order extends fc.Arbitrary<infer Value> ? Value : never;

/** Runs a command of which the write at this place meets its end. A request that hangs is the last of its process. */
async function runWith(till: Till, command: string, at: number, ended: End): Promise<void> {
  let die = () => {};
  const death = new Promise<void>((resolve) => {
    die = resolve;
  });
  const silence = death.then(() => new Promise<never>(() => {}));
  let writes = 0;
  const forget = till.service.always('PATCH', (exchange) => {
    writes += 1;
    if (writes !== at + 1) return normally(exchange);
    if (ended === 'hang' || ended === 'commitThenHang') die();
    return ends[ended](exchange);
  });
  const run = till.run(`${command} --yes --concurrency 1 --fail-fast --timeout 1`, {
    around: (send) => Promise.race([send(), silence]),
  });
  await Promise.race([run, death]);
  forget();
}

/** Copies the state, or puts that copy in its place. */
function move(till: Till, kind: 'keep' | 'set back'): void {
  const parts = ['', '-wal', '-shm'].map((part) => join(till.folders.state, `state.db${part}`));
  const [from, to] = kind === 'keep' ? ['', '.older'] : ['.older', ''];
  if (!existsSync(`${parts[0]}${from}`)) return;
  for (const part of parts) {
    rmSync(part + to, { force: true });
    if (existsSync(part + from)) copyFileSync(part + from, part + to);
  }
}

/** Applies a file of increments for the first time. */
async function applyOnce(till: Till, { file, at, end }: Extract<Order, { kind: 'apply' }>, applied: Set<number>) {
  if (applied.has(file)) return;
  applied.add(file);
  const pets = Array.from({ length: rowsOfFile }, (_, index) => file * rowsOfFile + index + 1);
  const name = till.file(`${file}.csv`, `petId,delta\n${pets.map((petId) => `${petId},+5\n`).join('')}`);
  await runWith(till, `inventory apply ${name}`, at, end);
}

async function resume(till: Till, { back, at, end }: Extract<Order, { kind: 'resume' }>): Promise<void> {
  const runs = (await till.history()).filter(({ command }) => command === 'inventory apply');
  const run = runs[back]?.run;
  if (run !== undefined) await runWith(till, `inventory apply --resume ${run}`, at, end);
}

property(
  'no resume adds an increment of a file twice, whenever an older copy of the state is put back',
  [orders, orders, orders],
  { ...propertyRuns(80), testTimeout: 600_000 },
  async (first: readonly Order[], second: readonly Order[], third: readonly Order[]) => {
    const pets = Array.from({ length: files * rowsOfFile }, (_, index) => index + 1);
    const till = await openTill({ stock: tenEach(pets.length + 1) });
    const applied = new Set<number>();
    for (const [index, stage] of [first, second, third].entries()) {
      for (const given of stage) {
        if (given.kind === 'set') await till.run(`inventory set ${pets.length + 1} 12`);
        if (given.kind === 'apply') await applyOnce(till, given, applied);
        if (given.kind === 'resume') await resume(till, given);
        till.clock.advance(60_000);
        for (const petId of pets) expect([10, 15]).toContain(till.service.stockOf(petId));
      }
      if (index < 2) move(till, index === 0 ? 'keep' : 'set back');
    }
    await till.exits('state check', 0);
  },
);
