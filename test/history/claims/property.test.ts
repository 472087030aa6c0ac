import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Claims, Mark } from '../../../src/history/claims/claims.ts';
import { type ClaimsRig, createClaimsRig } from './rig.ts';

/** What one process does with some pets, before it goes on to the next task. */
interface Task {
  readonly pets: readonly number[];
  /**
   * - `marks`: it reads, and writes only what nobody else has claimed since
   * - `turns`: it claims, waits for its turn, and only then reads and writes
   * - `sets`: it relies on nothing
   */
  readonly kind: 'marks' | 'turns' | 'sets';
  /** How it ends with each pet that is its own. */
  readonly end: 'done' | 'withdraw' | 'die before' | 'die after' | 'close';
}

/** A write that was carried out. Times count steps of the simulation. */
interface Write {
  readonly by: string;
  readonly pet: number;
  readonly readAt: number | undefined;
  readonly claimedAt: number;
  readonly writtenAt: number;
}

class Simulation {
  readonly writes: Write[] = [];
  readonly #rig: ClaimsRig;
  #now = 0;
  #pid = 1;

  constructor(rig: ClaimsRig) {
    this.#rig = rig;
  }

  tick(): void {
    this.#now += 1;
  }

  /** Goes through the tasks, a step at a time; one that has died is followed by another process. */
  *process(tasks: readonly Task[], sealAt: number): Generator<void> {
    let claims: Claims | undefined;
    let unique = '';
    for (const task of tasks) {
      if (claims === undefined) {
        this.#pid += 1;
        unique = `${this.#pid}.x`;
        claims = this.#rig.open(unique, { sealAt });
        yield;
      }
      const goesOn: boolean = yield* this.#work(claims, unique, task);
      if (!goesOn) claims = undefined;
    }
    claims?.close();
  }

  *#work(claims: Claims, by: string, { pets, kind, end }: Task): Generator<void, boolean> {
    const mark: Mark | undefined = kind === 'marks' ? claims.mark() : undefined;
    yield;
    let readAt = kind === 'marks' ? this.#now : undefined;
    for (const pet of pets) {
      yield;
      const claimedAt = this.#now;
      if (claims.claim(BigInt(pet), mark) !== undefined) continue;
      yield;
      while (kind === 'turns' && claims.waitsFor(BigInt(pet))) yield;
      if (kind === 'turns') readAt = this.#now;
      yield;
      if (end !== 'withdraw' && end !== 'die before') {
        this.writes.push({ by, pet, readAt, claimedAt, writtenAt: this.#now });
        yield;
      }
      if (!this.#end(claims, by, pet, end)) return false;
    }
    return true;
  }

  /** @returns whether the process goes on */
  #end(claims: Claims, by: string, pet: number, end: Task['end']): boolean {
    if (end === 'done') claims.done(BigInt(pet));
    else if (end === 'withdraw') claims.withdraw(BigInt(pet));
    else if (end === 'close') claims.close();
    else this.#rig.alive.delete(Number.parseInt(by, 10));
    return end === 'done' || end === 'withdraw';
  }
}

/** Two that both read before the other's write: one of the two writes is lost. */
function loses(one: Write, other: Write): boolean {
  if (one.by === other.by || one.pet !== other.pet || one.readAt === undefined) return false;
  if (one.readAt >= other.writtenAt || other.writtenAt >= one.writtenAt) return false;
  // A plain set that claims behind us relies on nothing, and is the later of the two.
  return other.readAt !== undefined || other.claimedAt < one.claimedAt;
}

const task = fc.record<Task>({
  pets: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
  kind: fc.constantFrom('marks', 'turns', 'sets'),
  end: fc.constantFrom('done', 'done', 'withdraw', 'die before', 'die after', 'close'),
});

test('whoever reads, claims, writes, dies and seals in whatever order: no write is lost', async () => {
  const rig = await createClaimsRig();
  let run = 0;
  let written = 0;
  fc.assert(
    fc.property(
      fc.array(fc.array(task, { minLength: 2, maxLength: 6 }), { minLength: 2, maxLength: 4 }),
      fc.array(fc.nat(11), { minLength: 60, maxLength: 200 }),
      fc.integer({ min: 50, max: 1500 }),
      (processes, order, sealAt) => {
        run += 1;
        const simulation = new Simulation(rig);
        const running = processes.map((tasks) => simulation.process(tasks, sealAt));
        for (const index of order) {
          simulation.tick();
          running[index % running.length]?.next();
        }
        const { writes } = simulation;
        written += writes.length;
        rig.clear();
        for (const one of writes) expect(writes.filter((other) => loses(one, other))).toEqual([]);
      },
    ),
    { numRuns: 200 },
  );
  expect(rig.reasons).toEqual([]);
  // Where nobody ever wrote, nothing would be shown.
  expect(written).toBeGreaterThan(run);
});
