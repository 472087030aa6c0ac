import { expect, test } from 'vitest';
import { seeded } from '../rate-limit/seeded.ts';
import { type Forgetting, forgettings, keepCopy, localForgettings } from '../support/forgetting.ts';
import { type Petstock, petstockAt, type ShownRow } from '../support/petstock.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import type { Program } from '../support/program.ts';
import { type Exchange, errorBody, type ScriptedService, scriptedService, until } from '../support/scripted-service.ts';

/** The number of rounds. `PETSTOCK_RUNS=100` runs a full test; `PETSTOCK_SEED` changes the rounds. */
const rounds = Number(process.env.PETSTOCK_RUNS ?? 12);
const seed = Number(process.env.PETSTOCK_SEED ?? 1);
const pets = 16;
/** A short timeout, because a resume waits until no request of the killed process can be in flight. */
const patience = ['--timeout', '1', '-q', '--yes'];
/** `Retry-After` of a 429 in seconds, and the time in milliseconds in which its process has to store it. */
const gate = { seconds: 6, writtenAfter: 1500 };

interface Commit {
  readonly petId: number;
  readonly before: number;
  readonly after: number;
}

/** A service that records which changes it has carried out and refused. */
class Witness {
  readonly service: ScriptedService;
  readonly commits: Commit[] = [];
  readonly #random: () => number;
  #gateFrom = Number.POSITIVE_INFINITY;
  #gateUntil = Number.POSITIVE_INFINITY;
  #onRefusal: (() => void) | undefined;

  constructor(service: ScriptedService, random: () => number) {
    this.service = service;
    this.#random = random;
    service.always('PATCH', (exchange) => this.#handle(exchange));
  }

  get answered(): number {
    return this.service.seen('PATCH').filter(({ status }) => status !== undefined).length;
  }

  stock(): readonly number[] {
    return Array.from({ length: pets }, (_, index) => this.service.stockOf(index + 1) ?? 0);
  }

  /** Refuses the next change, and watches for requests during its `Retry-After`. Resolves when the change arrives. */
  refuseNext(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRefusal = resolve;
    });
  }

  refuseNone(): void {
    this.#onRefusal = undefined;
  }

  inside(): readonly string[] {
    const { requests } = this.service;
    return requests
      .filter(({ at }) => at > this.#gateFrom && at < this.#gateUntil)
      .map(({ method, path }) => `${method} ${path}`);
  }

  async #handle(exchange: Exchange): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 5 + this.#random() * 20));
    if (this.#onRefusal !== undefined) return this.#refuse(exchange);
    const petId = Number(exchange.change?.petId);
    const before = this.service.stockOf(petId) ?? 0;
    exchange.commit();
    this.commits.push({ petId, before, after: this.service.stockOf(petId) ?? 0 });
    if (this.#random() < 0.1) exchange.drop();
    else exchange.answer(200, `{"petId":${petId},"quantity":${exchange.change?.quantity},"status":"available"}`);
  }

  #refuse(exchange: Exchange): void {
    const at = performance.now();
    // Requests that were already in flight are no violation.
    this.#gateFrom = at + gate.writtenAfter;
    this.#gateUntil = at + gate.seconds * 1000;
    exchange.answer(429, errorBody('rate_limited', 429), { 'Retry-After': `${gate.seconds}` });
    this.#onRefusal?.();
    this.#onRefusal = undefined;
  }
}

interface World {
  readonly petstock: Petstock;
  readonly witness: Witness;
  readonly random: () => number;
}

/** Errors of rows whose outcome can't be known. */
const mayBeEither = /is not known$|may have written the stock since$/;

/** Kills a run, makes the state lose data, resumes, and compares the history with what the service saw. */
async function round(world: World, number: number, forgetting: Forgetting): Promise<void> {
  const { petstock, witness, random } = world;
  // A live run that loses its state may repeat rows, which is safe only for rows with a quantity.
  const hasDeltas = forgetting.isLive !== true && random() < 0.6;
  const value = () => Math.floor(random() * 9) + 1;
  const lines = witness.stock().map((stock, index) => `${index + 1},${hasDeltas ? value() : stock + value()}`);
  const file = petstock.file(`${number}.csv`, [`petId,${hasDeltas ? 'delta' : 'quantity'}`, ...lines]);
  const apply = ['inventory', 'apply', file, '--concurrency', '3', ...patience];
  const begun = witness.commits.length;
  const program = petstock.start(apply);
  await untilAnswered(witness, program, Math.floor(random() * pets));
  const isGated = random() < 0.3;
  if (isGated) {
    await Promise.race([witness.refuseNext(), program.result.then(() => witness.refuseNone())]);
    await new Promise((resolve) => setTimeout(resolve, gate.writtenAfter));
  }
  if (forgetting.isLive) await forgetting.happens?.(petstock);
  // A run that has noticed the loss ends on its own.
  if (forgetting.isLive && random() < 0.5) expect((await program.result).code).not.toBeNull();
  program.kill('SIGKILL');
  const isFinished = (await program.result).signal === null;
  if (!forgetting.isLive) await forgetting.happens?.(petstock);
  const stranger = random() < 0.3 ? 1 + Math.floor(random() * pets) : undefined;
  const doubtful = stranger === undefined ? undefined : await unansweredIn(petstock, file, stranger);
  if (stranger !== undefined) witness.service.sell(stranger, -Number(lines[stranger - 1]?.split(',')[1]));
  await finishRun(world, apply, forgetting);
  const label = `round ${number}: ${forgetting.name}${isGated ? ', gated' : ''}${hasDeltas ? ', deltas' : ''}`;
  expect({ label, inside: witness.inside() }).toEqual({ label, inside: [] });
  if (!forgetting.isLive) await expectTruth(world, { label, begun, hasDeltas, file, isFinished, doubtful });
  else if (stranger === undefined) expect(witness.stock()).toEqual(lines.map((line) => Number(line.split(',')[1])));
}

async function untilAnswered(witness: Witness, program: Program, count: number): Promise<void> {
  const wanted = witness.answered + count;
  let isOver = false;
  void program.result.then(() => {
    isOver = true;
  });
  await until(() => {
    if (!isOver && witness.answered < wanted) throw new Error('too few answers');
  });
}

/** Resumes the run, or applies its file again if the state no longer has the run. */
async function finishRun(
  { petstock, witness }: World,
  apply: readonly string[],
  forgetting: Forgetting,
): Promise<void> {
  const resume = ['inventory', 'apply', '--resume', 'latest', ...patience];
  const options = forgetting.next?.(petstock);
  const sent = witness.service.seen('PATCH').length;
  const first = await petstock.run(resume, options);
  if (forgetting.isRefused) {
    expect({ stderr: first.stderr, code: first.code }).toMatchObject({ code: expect.toSatisfy((code) => code !== 0) });
    expect(witness.service.seen('PATCH')).toHaveLength(sent);
  }
  const last = forgetting.isRefused ? await petstock.run(resume) : first;
  if (forgetting.isLive) {
    // The state may have lost rows of the run, or the whole run.
    expect([0, 7, 8]).toContain((await petstock.run(apply)).code);
  } else if (last.code === 9) expect(last.stderr).toContain('no unfinished run');
  else
    expect({ stderr: last.stderr, code: last.code }).toMatchObject({
      code: expect.toSatisfy((code) => [0, 7, 8].includes(code)),
    });
}

interface Told {
  readonly label: string;
  /** The number of writes that the service had carried out before the run. */
  readonly begun: number;
  readonly hasDeltas: boolean;
  readonly file: string;
  /** True if the run ended before it was killed. It may have been pruned since. */
  readonly isFinished: boolean;
  /** A pet whose delta may have been sent before someone else added as much: its stock shows only one of the two. */
  readonly doubtful: number | undefined;
}

/** Returns the pet if its row in the run of this file is unknown. */
async function unansweredIn(petstock: Petstock, file: string, petId: number): Promise<number | undefined> {
  const run = (await petstock.history()).find((listed) => listed.file === file);
  const rows = run === undefined ? [] : await petstock.rows(run.run);
  return rows.some((row) => row.petId === petId && row.result === 'unknown') ? petId : undefined;
}

/** Checks that the history has every row as the service has seen it. */
async function expectTruth(
  { petstock, witness }: World,
  { label, begun, hasDeltas, file, isFinished, doubtful }: Told,
): Promise<void> {
  const commits = witness.commits.slice(begun);
  const run = (await petstock.history()).find((listed) => listed.file === file);
  if (run === undefined) return expect({ label, commits: isFinished ? [] : commits }).toEqual({ label, commits: [] });
  expect({ label, state: run.state }).toEqual({ label, state: 'done' });
  for (const row of (await petstock.rows(run.run)) as readonly (ShownRow & {
    error: { message: string } | null;
  })[]) {
    const own = commits.filter(({ petId, before, after }) => petId === row.petId && before !== after);
    const told = { label, petId: row.petId, result: row.result, error: row.error?.message };
    const isOpen = row.result === 'conflict' && mayBeEither.test(row.error?.message ?? '');
    if (isOpen || row.petId === doubtful) expect(own.length).toBeLessThanOrEqual(1);
    else if (row.result === 'applied') {
      // A quantity may have been sent again, but a delta never is.
      const written = hasDeltas ? own : own.slice(-1);
      const { petId, before, after } = row;
      expect({ ...told, written }).toEqual({ ...told, written: [{ petId, before, after }] });
    } else {
      expect({ ...told, own }).toEqual({ ...told, result: expect.stringMatching(/^(unchanged|conflict)$/), own: [] });
    }
  }
}

const draw = <T>(random: () => number, from: readonly T[]): T => {
  const drawn = from[Math.floor(random() * from.length)];
  if (drawn === undefined) throw new Error('there is nothing to draw from');
  return drawn;
};

test(`keeps the history true to the service in ${rounds} rounds of kill -9 and lost state (seed ${seed})`, async () => {
  const random = seeded(seed);
  const service = await scriptedService({
    stock: Object.fromEntries(Array.from({ length: pets }, (_, index) => [index + 1, 1000])),
  });
  const world = { petstock: petstockAt(service), witness: new Witness(service, random), random };
  await world.petstock.run('inventory adjust 1 +1 -q');
  for (let number = 1; number <= rounds; number += 1) {
    keepCopy(world.petstock);
    await round(world, number, draw(random, localForgettings));
  }
}, 3_600_000);

test(`keeps the history true to the service in ${Math.ceil(rounds / 4)} rounds of kill -9 of run and database (seed ${seed})`, async () => {
  const random = seeded(seed);
  const [service, server] = await Promise.all([
    scriptedService({ stock: Object.fromEntries(Array.from({ length: pets }, (_, index) => [index + 1, 1000])) }),
    temporaryPostgres({ settings: ['fsync = on'] }),
  ]);
  const env = { ...service.env, PETSTOCK_STATE_URL: server.url };
  const witness = new Witness(service, random);
  const killed: Forgetting = {
    name: 'PostgreSQL is killed, and back',
    happens: async () => {
      await server.kill();
      await server.restart();
    },
  };
  for (let number = 1; number <= Math.ceil(rounds / 4); number += 1) {
    // Each round runs on a new machine, which shares only the database with the others.
    const petstock = petstockAt({ env });
    await round({ petstock, witness, random }, number, draw(random, [killed, killed, ...forgettings]));
  }
}, 3_600_000);
