import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { propertyRuns } from '../../support/property-runs.ts';
import { answers, commitThenDrop, commitThenHang, drop, hang, normally } from '../../support/scripted-actions.ts';
import { tenEach } from '../../support/scripted-service.ts';
import fc, { property } from '../../support/seeded-fast-check.ts';
import type { ShopRunOptions } from '../../support/shop.ts';
import { openTill, type Till } from '../../support/till.ts';

const files = 3;
const rowsOfFile = 4;

/** The fate of one request; the run ends if it is killed, or refused with --fail-fast. */
const ends = { hang, commitThenHang, drop, commitThenDrop, refused: answers(400), normally } as const;
type End = keyof typeof ends;
/** The run sends nothing after these, so it does not overwrite what others change then. */
const isLast: ReadonlySet<End> = new Set(['hang', 'commitThenHang', 'refused']);

const move = fc.constantFrom('keep' as const, 'set back' as const);
const place = {
  at: fc.nat(rowsOfFile - 1),
  // A refusal leaves rows unsent.
  end: fc.constantFrom('normally', 'refused', 'refused', ...(Object.keys(ends) as End[])),
  /** While the last request of a run is in flight, someone else adds the same delta to the other pets of its file. */
  isEqual: fc.boolean(),
  /** While that request is in flight, the state is copied, or the copy is restored. */
  meanwhile: fc.option(move, { nil: undefined, freq: 2 }),
};
const apply = fc.record({ kind: fc.constant('apply' as const), file: fc.nat(files - 1), ...place });
const resume = fc.record({ kind: fc.constant('resume' as const), back: fc.nat(1), ...place });
const order = fc.oneof(
  apply,
  apply,
  resume,
  resume,
  resume,
  fc.record({ kind: fc.constantFrom('set' as const, 'look' as const, 'prune' as const) }),
  fc.record({ kind: move }),
);
type Order = typeof order extends fc.Arbitrary<infer Value> ? Value : never;
type Place = Pick<Extract<Order, { kind: 'resume' }>, keyof typeof place>;

/** In each history, a copy that lacks at least one resume is restored, and a run in it is resumed. */
const some = fc.array(order, { maxLength: 2 });
const history = fc
  .tuple(apply, some, some, resume, some, some, resume)
  .map(([first, before, between, lost, behind, after, last]): readonly Order[] => [
    ...[first, ...before, { kind: 'keep' as const }],
    ...[...between, lost, ...behind, { kind: 'set back' as const }],
    ...[...after, last],
  ]);

const delta = 5;
const petsOf = (file: number) => Array.from({ length: rowsOfFile }, (_, index) => file * rowsOfFile + index + 1);
const pets = Array.from({ length: files }, (_, file) => petsOf(file)).flat();

class World {
  /** How often someone else has added the delta of each pet's row. */
  readonly #equal = new Map<number, number>();
  /** Pets whose request got no response, and can't be distinguished from an equal change by someone else. */
  readonly #unanswered = new Set<number>();
  readonly #applied = new Set<number>();

  constructor(private readonly till: Till) {}

  async take(given: Order): Promise<void> {
    const { till } = this;
    if (given.kind === 'apply') await this.#apply(given);
    else if (given.kind === 'resume') await this.#resume(given);
    else if (given.kind === 'set') await till.run(`inventory set ${pets.length + 1} 12`);
    else if (given.kind === 'prune') await till.run('history prune --keep 1 --yes');
    else if (given.kind === 'look') await this.#look();
    else this.#move(given.kind);
    till.clock.advance(60_000);
    for (const petId of pets) {
      const others = (this.#equal.get(petId) ?? 0) * delta;
      expect([10 + others, 10 + others + delta]).toContain(till.service.stockOf(petId));
    }
  }

  /** Checks that a row is reported as applied only if it was written, unless its request got no response. */
  async judge(): Promise<void> {
    for (const { run, command } of await this.till.history()) {
      if (command !== 'inventory apply') continue;
      const { rows } = await this.till.json(`history show ${run} --json`);
      for (const { petId, result } of rows as readonly { petId: number; result: string }[]) {
        if (result !== 'applied' || this.#unanswered.has(petId)) continue;
        const others = (this.#equal.get(petId) ?? 0) * delta;
        expect([petId, this.till.service.stockOf(petId)]).toEqual([petId, 10 + others + delta]);
      }
    }
    await this.till.exits('state check', 0);
  }

  /** Applies a file of deltas, unless that was done before. */
  async #apply({ file, ...place }: Extract<Order, { kind: 'apply' }>): Promise<void> {
    if (this.#applied.has(file)) return;
    this.#applied.add(file);
    const rows = petsOf(file).map((petId) => `${petId},+${delta}\n`);
    await this.#runWith(`inventory apply ${this.till.file(`${file}.csv`, `petId,delta\n${rows.join('')}`)}`, place);
  }

  async #resume({ back, ...place }: Extract<Order, { kind: 'resume' }>): Promise<void> {
    const run = (await this.#runs())[back];
    if (run !== undefined) await this.#runWith(`inventory apply --resume ${run}`, place);
  }

  /** Checks that `history show` and dry runs write nothing. */
  async #look(): Promise<void> {
    const before = pets.map(this.till.service.stockOf);
    for (const run of await this.#runs()) {
      await this.till.run(`history show ${run}`);
      await this.till.run(`inventory apply --resume ${run} --dry-run`);
    }
    expect(pets.map(this.till.service.stockOf)).toEqual(before);
  }

  async #runs(): Promise<readonly string[]> {
    return (await this.till.history()).flatMap(({ run, command }) => (command === 'inventory apply' ? [run] : []));
  }

  /** Runs a command whose write number `at` gets this `end`. A request that hangs is the last of its process. */
  async #runWith(command: string, { at, end, isEqual, meanwhile }: Place): Promise<void> {
    const { service, run } = this.till;
    let die = () => {};
    const death = new Promise<void>((resolve) => {
      die = resolve;
    });
    const silence = death.then(() => new Promise<never>(() => {}));
    let writes = 0;
    const forget = service.always('PATCH', (exchange) => {
      writes += 1;
      if (writes !== at + 1) return normally(exchange);
      const petId = Number(exchange.change?.petId);
      if (end !== 'normally' && end !== 'refused') this.#unanswered.add(petId);
      if (isEqual && isLast.has(end)) this.#changeOthers(petId);
      if (meanwhile !== undefined) this.#move(meanwhile);
      if (end === 'hang' || end === 'commitThenHang') die();
      return ends[end](exchange);
    });
    const options: ShopRunOptions = { around: (send) => Promise.race([send(), silence]) };
    const ended = run(`${command} --yes --concurrency 1 --fail-fast --timeout 1`, options);
    await Promise.race([ended, death]);
    forget();
  }

  #changeOthers(petId: number): void {
    for (const other of petsOf(Math.floor((petId - 1) / rowsOfFile))) {
      if (other === petId) continue;
      this.till.service.sell(other, -delta);
      this.#equal.set(other, (this.#equal.get(other) ?? 0) + 1);
    }
  }

  /** Copies the state, or restores that copy. */
  #move(kind: 'keep' | 'set back'): void {
    const parts = ['', '-wal', '-shm'].map((part) => join(this.till.folders.state, `state.db${part}`));
    const [from, to] = kind === 'keep' ? ['', '.older'] : ['.older', ''];
    if (!existsSync(`${parts[0]}${from}`)) return;
    for (const part of parts) {
      rmSync(part + to, { force: true });
      if (existsSync(part + from)) copyFileSync(part + from, part + to);
    }
  }
}

property(
  'never adds a delta twice or falsely reports it as applied after an older state is restored',
  [history],
  { ...propertyRuns(25), testTimeout: 600_000 },
  async (orders: readonly Order[]) => {
    const world = new World(await openTill({ stock: tenEach(pets.length + 1) }));
    for (const given of orders) await world.take(given);
    await world.judge();
  },
);
