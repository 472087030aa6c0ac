import { expect } from 'vitest';
import type { HttpResponse } from '../../../src/api/transport.ts';
import type { RunResult } from '../../support/context.ts';
import type { ListedRun, ShownRow } from '../../support/petstock.ts';
import fc, { property } from '../../support/seeded-fast-check.ts';
import { changeFile, openShop, type Shop, type ShopRunOptions, stockOf } from '../../support/shop.ts';

/** More of them with `PETSTOCK_RUNS=500`. */
const numRuns = Number(process.env.PETSTOCK_RUNS ?? 4);

const pet = fc.integer({ min: 1, max: 3 });
const delta = fc.integer({ min: 1, max: 9 });
const order = fc.oneof(
  fc.record({ kind: fc.constant('adjust' as const), pet, delta }),
  fc.record({ kind: fc.constant('set' as const), pet, delta }),
  fc.record({ kind: fc.constant('several' as const), deltas: fc.tuple(delta, delta) }),
  fc.record({ kind: fc.constant('apply' as const), deltas: fc.tuple(delta, delta, delta) }),
  fc.record({ kind: fc.constant('count' as const), pet, delta }),
  fc.record({ kind: fc.constant('undo' as const), back: fc.nat(2) }),
  fc.record({ kind: fc.constant('undo --last' as const) }),
  fc.record({ kind: fc.constant('resume' as const), back: fc.nat(2) }),
  fc.record({ kind: fc.constant('prune' as const), keep: fc.nat(2) }),
);
type Order = typeof order extends fc.Arbitrary<infer Value> ? Value : never;

const fault = fc.constantFrom(
  ...['', '', 'PATCH /inventory/*:every=2:commit-then-drop', 'PATCH /inventory/*:first=1:reset'],
  ...['PATCH /inventory/*:first=2:status=503', 'PATCH /inventory/*:every=3:truncate', 'GET /inventory:first=1:reset'],
  ...['PATCH /inventory/*:first=1:status=429', 'PATCH /inventory/*:every=2:status=500'],
);
/** What happens before the n-th request of a command leaves, or instead of its answer. */
const event = fc.oneof(
  fc.constant(undefined),
  fc.record({ kind: fc.constantFrom('killed' as const, 'killed behind it' as const), at: fc.nat(4) }),
  fc.record({ kind: fc.constant('stopped' as const), at: fc.nat(4), meanwhile: order }),
);
/** The machine on which it happens: another one shares the folders, and is of another boot. */
const host = fc.constantFrom('test', 'test', 'box');
const step = fc.record({ order, fault, event, host, restock: fc.option(pet, { nil: undefined }) });
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Others change stock by 1000, 2000, 4000, …: no sum of our own changes comes to that, nor is any change taken back by it. */
const smallest = 1000;

interface FaultyRow extends ShownRow {
  readonly error: { readonly message: string } | null;
}

/** By what a row may have changed its stock, as the history says: of some conflicts it says that this is not known. */
function changesOf({ result, before, after, quantity, error }: FaultyRow): readonly number[] {
  if (result === 'applied') return [(quantity ?? Number.NaN) - (before ?? Number.NaN)];
  const isOpen = /is not known$|written it since$|^the stock is -?\d+, not/.test(error?.message ?? '');
  return result === 'conflict' && isOpen ? [0, after - (before ?? Number.NaN)] : [0];
}

/** One process: its requests leave, until what happens to it happens. */
class Life {
  readonly death: Promise<'dead'>;
  readonly #event: Step['event'];
  readonly #runMeanwhile: (order: Order) => Promise<void>;
  readonly #inFlight = new Set<Promise<HttpResponse>>();
  #die: (end: 'dead') => void = () => {};
  #isDead = false;
  #requests = 0;

  constructor(event: Step['event'], runMeanwhile: (order: Order) => Promise<void>) {
    this.#event = event;
    this.#runMeanwhile = runMeanwhile;
    this.death = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  async around(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
    const happens = this.#event !== undefined && this.#requests === this.#event.at ? this.#event : undefined;
    this.#requests += 1;
    if (happens?.kind === 'stopped') await this.#runMeanwhile(happens.meanwhile);
    if (happens?.kind === 'killed') this.#isDead = true;
    if (!this.#isDead) {
      const answer = send();
      this.#inFlight.add(answer);
      await answer.catch(() => {});
      // What it has sent is carried out; what it would do with the answer is not.
      if (happens?.kind === 'killed behind it') this.#isDead = true;
      if (!this.#isDead) return answer;
    }
    await Promise.allSettled(this.#inFlight);
    this.#die('dead');
    return new Promise(() => {});
  }
}

class World {
  readonly #shop: Shop;
  readonly #delivered = new Map<string, number>();
  /** The rows of runs, as they were last seen: a run may be removed since. */
  readonly #rows = new Map<string, readonly FaultyRow[]>();
  #next = smallest;
  #seed = 1;

  constructor(shop: Shop) {
    this.#shop = shop;
  }

  async take({ order: given, fault: spec, event: happening, host, restock }: Step): Promise<void> {
    if (restock !== undefined) await this.#deliver(restock);
    this.#shop.service.setFaults(spec === '' ? [] : [spec]);
    const life = new Life(happening, async (meanwhile) => this.#requireSound(await this.#run(meanwhile)));
    const { clock } = this.#shop;
    const machine = host === 'test' ? {} : { host, clock: { ...clock, boot: () => host } };
    const run = this.#run(given, { ...machine, around: (send) => life.around(send) });
    const result = await Promise.race([run, life.death]);
    if (result === 'dead') clock.advance(60_000);
    else this.#requireSound(result);
  }

  async #run(given: Order, options: ShopRunOptions = {}): Promise<RunResult> {
    if (given.kind === 'prune') await this.#look();
    const stdin = given.kind === 'count' ? `${given.pet} x${given.delta}\n` : undefined;
    // Two runs of one second must not have one id: of the first, only what was seen is left.
    const random = () => {
      this.#seed = (Math.imul(this.#seed, 1_103_515_245) + 12_345) >>> 0;
      return this.#seed / 2 ** 32;
    };
    return this.#shop.run(await this.#argsOf(given), { random, stdin, ...options });
  }

  /** Takes note of all rows. @returns the runs */
  async #look(): Promise<readonly ListedRun[]> {
    const runs = await this.#runs();
    for (const { run } of runs) this.#rows.set(run, (await this.#shop.json(`history show ${run} --json`)).rows);
    return runs;
  }

  /** Finishes what is open, and compares the stock with what the history says. */
  async judge(fresh: ReadonlyMap<string, number>): Promise<void> {
    this.#shop.service.setFaults([]);
    this.#shop.clock.advance(120_000);
    for (const { run, state } of await this.#runs()) {
      if (state !== 'done') this.#requireSound(await this.#shop.run(`inventory apply --resume ${run} --yes`));
    }
    const possible = new Map(
      [...fresh].map(([petId, quantity]) => [petId, [quantity + (this.#delivered.get(petId) ?? 0)]]),
    );
    for (const { state } of await this.#look()) expect(state).toBe('done');
    for (const row of [...this.#rows.values()].flat()) {
      const sums = possible.get(`${row.petId}`) ?? [];
      const changes = changesOf(row);
      possible.set(
        `${row.petId}`,
        sums.flatMap((sum) => changes.map((change) => sum + change)),
      );
    }
    for (const [petId, quantity] of await stockOf(this.#shop)) {
      expect({ petId, possible: possible.get(petId) }).toEqual({ petId, possible: expect.arrayContaining([quantity]) });
    }
  }

  /** Any answer of a command is right but a defect. */
  #requireSound({ code, stderr }: RunResult): void {
    expect(code, stderr).not.toBe(1);
  }

  async #argsOf(given: Order): Promise<readonly string[]> {
    switch (given.kind) {
      case 'adjust':
        return ['inventory', 'adjust', `${given.pet}`, `+${given.delta}`];
      case 'set':
        return ['inventory', 'set', `${given.pet}`, `${100 + given.delta}`, '--read-first'];
      case 'several': {
        const [first, second] = given.deltas;
        return ['inventory', 'adjust', `1=+${first}`, `2=+${second}`, '--yes'];
      }
      case 'count':
        return ['inventory', 'count', '--take', '--new', '--yes'];
      case 'undo --last':
        return ['undo', '--last', '--yes'];
      case 'prune':
        return ['history', 'prune', '--keep', `${given.keep}`, '--yes'];
      case 'apply': {
        const rows = given.deltas.map((change, index) => `${index + 1},${change}`);
        const file = changeFile(this.#shop, `petId,delta\n${rows.join('\n')}\n`, `${rows.join('-')}.csv`);
        return ['inventory', 'apply', file, '--yes', '--again'];
      }
      default: {
        const runs = await this.#runs();
        const run = runs[Math.min(given.back, runs.length - 1)]?.run ?? '20260101T000000Z-none';
        return given.kind === 'undo' ? ['undo', run, '--yes'] : ['inventory', 'apply', '--resume', run, '--yes'];
      }
    }
  }

  #runs(): Promise<readonly ListedRun[]> {
    return this.#shop.json('history list --limit 1000 --json');
  }

  /** Somebody else, with no part in our state. */
  async #deliver(petId: number): Promise<void> {
    const { url, key } = this.#shop.service;
    this.#shop.service.setFaults([]);
    const delivery = this.#next;
    this.#next *= 2;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const ask = async (path: string, init: RequestInit): Promise<Response> => {
      const answer = await fetch(`${url}${path}`, { headers, ...init });
      if (answer.status !== 429) return answer;
      this.#shop.clock.advance(61_000);
      return ask(path, init);
    };
    const items = (await (await ask('/inventory', {})).json()) as ShownRow[];
    const quantity = (items.find((item) => item.petId === petId)?.quantity ?? 0) + delivery;
    const change = { method: 'PATCH', body: JSON.stringify({ quantity }) };
    expect((await ask(`/inventory/${petId}`, change)).status).toBe(200);
    this.#delivered.set(`${petId}`, (this.#delivered.get(`${petId}`) ?? 0) + delivery);
  }
}

property(
  'whatever is written, lost, killed, stopped, resumed, taken back and forgotten: the stock is what the history says',
  [fc.array(step, { minLength: 3, maxLength: 8 }), fc.constantFrom(1_000_000, 14, 9, 5)],
  { testTimeout: 100_000 + 5_000 * numRuns, numRuns, endOnFailure: true },
  async (steps, minute) => {
    const shop = await openShop({ pets: 6, limits: { minute, day: 1_000_000_000 }, ban: false });
    const world = new World(shop);
    const fresh = await stockOf(shop);
    for (const one of steps) await world.take(one);
    await world.judge(fresh);
  },
);
