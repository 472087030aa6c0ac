import { chmodSync, cpSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { Clock } from '../../../src/shared/clock.ts';
import { InterruptedError } from '../../../src/shared/errors.ts';
import type { TestClock } from '../../support/clock.ts';
import type { RunResult } from '../../support/context.ts';
import { killableState } from '../../support/killed-state.ts';
import { type LaggingReplica, laggingReplica } from '../../support/lagging-replica.ts';
import { newFolder } from '../../support/new-folder.ts';
import type { ListedRun, ShownRow } from '../../support/petstock.ts';
import { runSql, temporaryDatabase } from '../../support/postgres.ts';
import fc, { property } from '../../support/properties.ts';
import {
  changeFile,
  jsonLines,
  openShop,
  type Shop,
  type ShopRunOptions,
  shopOf,
  withEnv,
} from '../../support/shop.ts';

/** How many histories are tested; with a state in PostgreSQL, a quarter as many, all of them drawn. */
const numRuns = Number(process.env.PETSTOCK_RUNS ?? 4);

const pet = fc.integer({ min: 1, max: 3 });
const delta = fc.integer({ min: 1, max: 9 });
const change = delta.chain((size) => fc.constantFrom(size, size, -size));
/** The stock that a command expects: none, the right one or a wrong one. */
const expects = fc.constantFrom(undefined, undefined, 'right' as const, 'wrong' as const);
const order = fc.oneof(
  fc.record({ kind: fc.constant('adjust' as const), pet, delta: change, expects }),
  fc.record({ kind: fc.constant('set' as const), pet, delta, expects }),
  fc.record({
    kind: fc.constant('apply' as const),
    column: fc.constantFrom('delta' as const, 'delta' as const, 'quantity' as const),
    expects,
    changes: fc.tuple(change, change, change),
    keepsAbove: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('count' as const), pet, delta, goes: fc.constantFrom('--take', '--add') }),
  fc.record({ kind: fc.constant('undo' as const), back: fc.nat(2) }),
  fc.record({ kind: fc.constant('undo --last' as const) }),
  fc.record({ kind: fc.constant('resume' as const), back: fc.nat(2) }),
  fc.record({ kind: fc.constant('resume latest' as const) }),
  fc.record({ kind: fc.constant('prune' as const), keep: fc.nat(2) }),
  fc.record({ kind: fc.constant('export' as const) }),
);
type Order = typeof order extends fc.Arbitrary<infer Value> ? Value : never;

const fault = fc.constantFrom(
  '',
  '',
  'PATCH /inventory/*:every=2:commit-then-drop',
  'PATCH /inventory/*:first=1:reset',
  'PATCH /inventory/*:first=2:status=503',
  'PATCH /inventory/*:every=3:truncate',
  'GET /inventory:first=1:reset',
  'PATCH /inventory/*:first=1:status=429',
  'PATCH /inventory/*:every=2:status=500',
);
/** The n-th request, question or wait of a command; if `isBehind`, its end. */
const moment = { at: fc.nat(6), isBehind: fc.boolean() };
/** The pause at an event, in milliseconds: shorter than a lease, shorter than a request can be in flight, or longer. */
const pause = fc.constantFrom(0, 20_000, 60_000);
const end = fc.record({ kind: fc.constantFrom('killed' as const, 'interrupted' as const), ...moment, pause });
const scene = {
  order,
  /** Whether the command runs at a terminal, and asks there. */
  isAsked: fc.boolean(),
  /** The error of the machine's wall clock, in milliseconds. */
  wrongBy: fc.constantFrom(0, 0, 0, -86_400_000, 3_600_000),
};
const meanwhile = fc.record({ ...scene, event: fc.option(end, { nil: undefined, freq: 2 }) });
const event = fc.oneof(
  fc.constant(undefined),
  end,
  fc.record({ kind: fc.constant('stopped' as const), ...moment, pause, meanwhile }),
  fc.record({ kind: fc.constantFrom('removed' as const, 'replaced' as const), ...moment, pause: fc.constant(0) }),
);
/** How far the replica that serves lists is behind, in milliseconds. */
const lag = fc.constantFrom(0, 0, 3000, 7000, 14_000);
const step = fc.record({ ...scene, event, fault, lag, restock: fc.option(pet, { nil: undefined }) });
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type Command = Pick<Step, keyof typeof scene | 'event'>;
type Event = Step['event'];
type Expects = 'right' | 'wrong' | undefined;

/** Other clients add 1000, 2000, 4000, …, which no sum of the tested changes equals or cancels. */
const smallest = 1000;

interface FaultyRow extends ShownRow {
  readonly error: { readonly code: string; readonly message: string } | null;
}

interface ExportedRow extends FaultyRow {
  readonly seq: number;
  readonly run: string;
  readonly row: number;
}

/** Returns by how much a row may have changed the stock: two values if the history does not know whether it did. */
function changesOf({ result, before, after, quantity, error }: FaultyRow): readonly number[] {
  if (result === 'applied') return [(quantity ?? Number.NaN) - (before ?? Number.NaN)];
  return result === 'conflict' && error?.code === 'unclear' ? [0, after - (before ?? Number.NaN)] : [0];
}

/** A process to which at most one event happens. */
class Life {
  readonly death: Promise<'dead'>;
  readonly #event: Event;
  readonly #happen: (event: Exclude<Event, undefined>) => Promise<void>;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #ctrlC = new AbortController();
  readonly #state = killableState();
  #die: (end: 'dead') => void = () => {};
  #isDead = false;
  #moments = 0;
  /** Resolves after the event. A command does not await all of its own waits. */
  met: Promise<void> = Promise.resolve();

  constructor(event: Event, happen: (event: Exclude<Event, undefined>) => Promise<void>) {
    this.#event = event;
    this.#happen = happen;
    this.death = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  /** Returns the options of a command to which the event happens. */
  options(clock: Clock): Pick<ShopRunOptions, 'around' | 'interrupted' | 'clock' | 'prompts' | 'openState'> {
    return {
      openState: this.#state.openState,
      around: (send) => this.#moment(send),
      interrupted: this.#ctrlC.signal,
      clock: { ...clock, sleep: (...args) => this.#moment(() => clock.sleep(...args)) },
      prompts: { confirm: () => this.#moment(async () => true) },
    };
  }

  async #moment<T>(work: () => Promise<T>): Promise<T> {
    const event = this.#event !== undefined && this.#moments === this.#event.at ? this.#event : undefined;
    this.#moments += 1;
    if (event?.isBehind === false) await this.#meeting(event);
    if (!this.#isDead) {
      const done = work();
      this.#underWay.add(done);
      await done.catch(() => {});
      if (event?.isBehind === true) await this.#meeting(event);
      if (!this.#isDead) return done;
    }
    // A request that was sent is carried out, but its response is ignored.
    await Promise.allSettled(this.#underWay);
    await this.#state.kill();
    this.#die('dead');
    return new Promise(() => {});
  }

  #meeting(event: Exclude<Event, undefined>): Promise<void> {
    this.met = this.#meet(event);
    return this.met;
  }

  async #meet(event: Exclude<Event, undefined>): Promise<void> {
    if (event.kind === 'removed' || event.kind === 'replaced') await Promise.allSettled(this.#underWay);
    if (event.kind === 'killed') this.#isDead = true;
    else await this.#happen(event);
    if (event.kind === 'interrupted') this.#ctrlC.abort(new InterruptedError('Interrupted'));
  }
}

class World {
  readonly #shop: Shop;
  readonly #replica: LaggingReplica;
  /** The stock at the beginning, and the deliveries since. */
  #fresh = new Map<string, number>();
  /** The rows of each run when last read. The run may have been removed since. */
  readonly #rows = new Map<string, readonly FaultyRow[]>();
  /** The rows of each `history export --after`, by run and row. */
  readonly #loaded = new Map<string, ExportedRow>();
  #cursor = 0;
  #next = smallest;
  #seed = 1;
  #deliveries = 0;
  /** Whether the state was removed or replaced. */
  #isLost = false;

  constructor(shop: Shop, replica: LaggingReplica) {
    this.#shop = withEnv(shop, { PETSTOCK_URL_STAGING: replica.url });
    this.#replica = replica;
  }

  async begin(): Promise<void> {
    this.#fresh = await this.#stock();
    this.#rows.clear();
    this.#loaded.clear();
    this.#cursor = 0;
    this.#isLost = false;
  }

  async take(step: Step): Promise<void> {
    const { order: given, fault: spec, event, lag, restock } = step;
    this.#replica.lagBy(lag);
    if (restock !== undefined) await this.#deliver(restock);
    this.#shop.service.setFaults(spec === '' ? [] : [spec]);
    const before = await this.#stock();
    const result = await this.#live(step);
    if (result !== 'dead' && event?.kind !== 'stopped') await this.#requireTrue(given, result, before);
    if (!this.#isLost) return;
    this.#lose('removed');
    await this.begin();
  }

  async #live(
    { order: given, event, isAsked, wrongBy }: Command,
    flags: readonly string[] = [],
  ): Promise<RunResult | 'dead'> {
    const { clock, env } = this.#shop;
    const life = new Life(event, async (happening) => {
      clock.advance(happening.pause);
      // A stopped command holds its turn, so the other one waits in vain.
      if (happening.kind === 'stopped') await this.#live(happening.meanwhile, ['--max-wait', '1']);
      if ((happening.kind !== 'removed' && happening.kind !== 'replaced') || env.PETSTOCK_STATE_URL !== undefined)
        return;
      this.#lose(happening.kind);
      this.#isLost = true;
    });
    const run = this.#run(given, flags, {
      ...life.options({ ...clock, now: () => clock.now() + wrongBy }),
      terminal: isAsked && given.kind !== 'count' ? 100 : undefined,
      onSent: ({ method, body }) => {
        if (method === 'PATCH' && given.kind === 'apply' && given.keepsAbove) expect(body).not.toMatch(/:(0|-\d+)\}/);
      },
    });
    const result = await Promise.race([run, life.death]);
    await life.met;
    if (result === 'dead') clock.advance(event?.pause ?? 0);
    else if (!this.#isLost) requireSound(result);
    return result;
  }

  /** Checks what a command says about the stock. */
  async #requireTrue(given: Order, { code, stderr }: RunResult, before: ReadonlyMap<string, number>): Promise<void> {
    const after = await this.#stock();
    const saysNothing = [2, 7, 9].includes(code) || /nothing was written|was not set/i.test(stderr);
    if (saysNothing) expect(after, stderr).toEqual(before);
    if (code !== 0 || given.kind !== 'adjust') return;
    const sum = (before.get(`${given.pet}`) ?? 0) + given.delta;
    expect(after, stderr).toEqual(new Map(before).set(`${given.pet}`, sum));
  }

  async #run(given: Order, flags: readonly string[], options: ShopRunOptions): Promise<RunResult> {
    if (given.kind === 'prune') await this.#look();
    const stdin = given.kind === 'count' ? `${given.pet} x${given.delta}\n` : undefined;
    const result = await this.#shop.run([...(await this.#argsOf(given, options)), ...flags], {
      ...this.#lot,
      stdin,
      ...options,
    });
    if (given.kind === 'export') this.#load(exportedRows(result));
    return result;
  }

  /** Random numbers, so that two runs of the same second get different ids. */
  readonly #lot = {
    random: () => {
      this.#seed = (Math.imul(this.#seed, 1_103_515_245) + 12_345) >>> 0;
      return this.#seed / 2 ** 32;
    },
  };

  /** Records exported rows, and checks that their numbers rise. */
  #load(rows: readonly ExportedRow[]): void {
    for (const row of rows) {
      expect(row.seq).toBeGreaterThan(this.#cursor);
      this.#cursor = row.seq;
      this.#loaded.set(`${row.run} ${row.row}`, row);
    }
  }

  /** Records the rows of all runs. */
  async #look(): Promise<readonly ListedRun[]> {
    const runs = await this.#runs();
    for (const { run } of runs) this.#rows.set(run, (await this.#shop.json(`history show ${run} --json`)).rows);
    return runs;
  }

  /** Resumes open runs, and compares the stock with the history. */
  async judge(): Promise<void> {
    this.#shop.service.setFaults([]);
    this.#replica.lagBy(0);
    this.#shop.clock.advance(120_000);
    for (const { run, state } of await this.#runs()) {
      if (state !== 'done')
        requireSound(await this.#shop.run(`inventory apply --resume ${run} --yes --max-wait 90000`));
    }
    const possible = new Map([...this.#fresh].map(([petId, quantity]) => [petId, [quantity]]));
    for (const { state } of await this.#look()) expect(state).toBe('done');
    for (const row of [...this.#rows.values()].flat()) {
      const sums = possible.get(`${row.petId}`) ?? [];
      const changes = changesOf(row);
      possible.set(
        `${row.petId}`,
        sums.flatMap((sum) => changes.map((change) => sum + change)),
      );
    }
    for (const [petId, quantity] of await this.#stock()) {
      expect({ petId, possible: possible.get(petId) }).toEqual({ petId, possible: expect.arrayContaining([quantity]) });
    }
    await this.#run({ kind: 'export' }, [], {});
    for (const row of exportedRows(await this.#shop.run('history export -o ndjson'))) {
      expect(this.#loaded.get(`${row.run} ${row.row}`)).toEqual(row);
    }
  }

  async #argsOf(given: Order, { terminal }: ShopRunOptions): Promise<readonly string[]> {
    const yes = terminal === undefined ? ['--yes'] : [];
    switch (given.kind) {
      case 'adjust':
        return ['inventory', 'adjust', `${given.pet}`, `${given.delta}`, ...(await this.#expecting(given))];
      case 'set': {
        const how = given.expects === undefined ? ['--read-first'] : await this.#expecting(given);
        return ['inventory', 'set', `${given.pet}`, `${100 + given.delta}`, ...how];
      }
      case 'count':
        this.#deliveries += 1;
        return ['inventory', 'count', given.goes, '--ref', `N-${this.#deliveries}`, '--yes'];
      case 'undo --last':
        return ['undo', '--last', ...yes];
      case 'resume latest':
        return ['inventory', 'apply', '--resume', 'latest', ...yes];
      case 'prune':
        return ['history', 'prune', '--keep', `${given.keep}`, '--yes'];
      case 'export':
        return ['history', 'export', '--after', `${this.#cursor}`, '-o', 'ndjson'];
      case 'apply':
        return [
          'inventory',
          'apply',
          await this.#file(given),
          '--again',
          ...yes,
          ...(given.keepsAbove ? keptAbove : []),
        ];
      default: {
        const runs = await this.#runs();
        const run = runs[Math.min(given.back, runs.length - 1)]?.run ?? '20260101T000000Z-none';
        return given.kind === 'undo' ? ['undo', run, ...yes] : ['inventory', 'apply', '--resume', run, ...yes];
      }
    }
  }

  async #expecting({ pet, expects }: { readonly pet: number; readonly expects: Expects }): Promise<readonly string[]> {
    return expects === undefined ? [] : ['--expect', `${await this.#expected(pet, expects)}`];
  }

  async #expected(pet: number, expects: Expects): Promise<number> {
    const quantity = (await this.#stock()).get(`${pet}`) ?? 0;
    return expects === 'right' ? quantity : quantity + 1;
  }

  async #file({ column, expects, changes }: Extract<Order, { kind: 'apply' }>): Promise<string> {
    const rows = changes.map(async (change, index) => {
      const value = column === 'delta' ? change : 100 + change;
      return `${index + 1},${value},${expects === undefined ? '' : await this.#expected(index + 1, expects)}\n`;
    });
    return changeFile(this.#shop, `petId,${column},expected\n${(await Promise.all(rows)).join('')}`);
  }

  #runs(): Promise<readonly ListedRun[]> {
    return this.#shop.json('history list --limit 1000 --json');
  }

  async #stock(): Promise<Map<string, number>> {
    const items = this.#shop.service.store.items();
    return new Map(Array.from(items, ({ petId, quantity }) => [`${petId}`, Number(quantity)]));
  }

  /** Removes the state, or replaces it by a copy, like a restored backup. */
  #lose(kind: 'removed' | 'replaced'): void {
    const { state } = this.#shop.folders;
    this.#replica.catchUp();
    if (kind === 'replaced') cpSync(state, `${state}-copy`, { recursive: true });
    rmSync(state, { recursive: true, force: true });
    if (kind === 'replaced') renameSync(`${state}-copy`, state);
  }

  /** Adds stock as another client, which does not use the state. */
  async #deliver(pet: number): Promise<void> {
    const quantity = BigInt(((await this.#stock()).get(`${pet}`) ?? 0) + this.#next);
    this.#shop.service.store.setQuantity(BigInt(pet), quantity);
    // petstock can't tell whether a lagging list includes the change of another client.
    this.#replica.catchUp();
    this.#fresh.set(`${pet}`, (this.#fresh.get(`${pet}`) ?? 0) + this.#next);
    this.#next *= 2;
  }
}

const keptAbove = ['--max-zero', '0'];

function exportedRows({ stdout }: RunResult): readonly ExportedRow[] {
  return stdout === '' ? [] : jsonLines(stdout);
}

/** Accepts any exit code but 1, which means a bug or a lost state. */
function requireSound({ code, stderr }: RunResult): void {
  expect(code, stderr).not.toBe(1);
}

/** Opens a database that reads its time from a file, and a clock that keeps this file up to date. */
async function databaseOnClockOf({ clock }: Shop): Promise<{ readonly url: string; readonly clock: TestClock }> {
  const url = await temporaryDatabase();
  const file = join(newFolder(), 'now');
  const tell = (ms: number) => {
    writeFileSync(`${file}.new`, `${(clock.now() + ms) / 1000}`);
    renameSync(`${file}.new`, file);
  };
  tell(0);
  chmodSync(dirname(file), 0o755);
  await runSql(
    url,
    'ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO real_clock_timestamp',
    `CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
       AS $$ SELECT pg_catalog.to_timestamp(pg_catalog.pg_read_file('${file}')::double precision) $$`,
  );
  const told: TestClock = {
    ...clock,
    advance: (ms) => {
      tell(ms);
      clock.advance(ms);
    },
    sleep: (ms, signal) => {
      if (signal?.aborted !== true) tell(ms);
      return clock.sleep(ms, signal);
    },
  };
  return { url, clock: told };
}

const plain = { isAsked: true, wrongBy: 0, event: undefined, fault: '', lag: 0, restock: undefined } as const;
const late = { isBehind: true, pause: 0 } as const;
const nextDropped = 'PATCH /inventory/*:every=2:commit-then-drop';

/** An adjust is taken over by a later run: the stock shows that it was carried out only as a conflict, `unclear`. */
const undecided: readonly Step[] = [
  {
    ...{ ...plain, isAsked: false, wrongBy: -86_400_000, fault: 'GET /inventory:first=1:reset', lag: 3000, restock: 1 },
    order: { kind: 'apply', column: 'delta', expects: undefined, changes: [1, 4, 2], keepsAbove: false },
    event: {
      ...{ ...late, kind: 'stopped', at: 5 },
      meanwhile: { ...plain, order: { kind: 'count', pet: 2, delta: 1, goes: '--add' } },
    },
  },
  {
    ...{ ...plain, fault: 'PATCH /inventory/*:first=2:status=503', lag: 7000, restock: 3 },
    order: { kind: 'count', pet: 2, delta: 4, goes: '--take' },
  },
  {
    ...{ ...plain, isAsked: false, fault: nextDropped, lag: 14_000, restock: 1 },
    order: { kind: 'export' },
    event: { ...late, kind: 'removed', at: 6 },
  },
  {
    ...{ ...plain, isAsked: false, wrongBy: -86_400_000, fault: nextDropped, restock: 1 },
    order: { kind: 'apply', column: 'quantity', expects: 'right', changes: [5, 1, -9], keepsAbove: true },
    event: { kind: 'interrupted', at: 4, isBehind: false, pause: 0 },
  },
  {
    ...{
      ...plain,
      isAsked: true,
      wrongBy: -86_400_000,
      fault: 'PATCH /inventory/*:first=2:status=503',
      lag: 3000,
      restock: 2,
    },
    order: { kind: 'apply', column: 'delta', expects: undefined, changes: [2, 9, 1], keepsAbove: false },
  },
  {
    ...{ ...plain, fault: 'PATCH /inventory/*:first=1:reset', lag: 7000, restock: 3 },
    order: { kind: 'apply', column: 'delta', expects: undefined, changes: [2, -1, 1], keepsAbove: false },
    event: {
      kind: 'stopped',
      at: 6,
      isBehind: true,
      pause: 20_000,
      meanwhile: { ...plain, order: { kind: 'undo', back: 2 } },
    },
  },
  {
    ...{ ...plain, fault: nextDropped, lag: 3000, restock: 2 },
    order: { kind: 'count', pet: 2, delta: 6, goes: '--take' },
    event: { kind: 'interrupted', at: 0, isBehind: false, pause: 0 },
  },
  {
    ...{ ...plain, fault: 'PATCH /inventory/*:every=2:status=500', restock: 2 },
    order: { kind: 'export' },
    event: { ...late, kind: 'interrupted', at: 4 },
  },
];

/** Defines a property: after random steps in a new world, the stock is what the history says. */
function holds(
  title: string,
  runs: number,
  worldOf: (shop: Shop) => Promise<World>,
  examples: [readonly Step[], number][] = [],
): void {
  property(
    title,
    [fc.array(step, { minLength: 3, maxLength: 8 }), fc.constantFrom(1_000_000, 14, 9, 5)],
    {
      // A busy machine takes minutes.
      testTimeout: 610_000 + 15_000 * runs,
      numRuns: runs,
      timeout: 600_000,
      endOnFailure: true,
      examples,
    },
    async (steps, minute) => {
      const shop = await openShop({ pets: 6, limits: { minute, day: 1_000_000_000 }, ban: false });
      const world = await worldOf(shop);
      await world.begin();
      for (const one of steps) await world.take(one);
      await world.judge();
    },
  );
}

holds(
  'keeps the stock equal to the history, whatever is lost, killed, resumed or pruned',
  numRuns,
  async (shop) => new World(shop, await laggingReplica(shop.service, shop.clock)),
  [[undecided, 1_000_000]],
);

holds('keeps the stock equal to the history with a state in PostgreSQL', Math.ceil(numRuns / 4), async (shop) => {
  const { url, clock } = await databaseOnClockOf(shop);
  const replica = await laggingReplica(shop.service, clock);
  return new World(shopOf({ ...shop, clock, env: { ...shop.env, PETSTOCK_STATE_URL: url } }), replica);
});
