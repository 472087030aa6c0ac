import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { holdingProxy } from './holding-proxy.ts';
import { petstockAt } from './petstock.ts';
import { temporaryPostgres } from './postgres.ts';
import type { PostgresServer } from './postgres-server.ts';
import { type Program, type Served, serve, startProgram, temporaryHome } from './program.ts';
import type { RunRecordJson } from './team-json.ts';

/** `PETSTOCK_RUNS=100` for the whole matrix. */
const instants = Number(process.env.PETSTOCK_RUNS ?? 2);
export const rows = 120;
const noLimit = ['--limit-minute', '10000000', '--limit-day', '100000000'];
/** So that there are moments between the answers. */
const unhurried = ['--pets', `${rows}`, '--fault', 'PATCH /inventory/*:delay=8', ...noLimit];
/** Short, since a resume waits until no request of the killed process can be on its way any more. */
const timeout = ['--timeout', '1'];
export const moments = Array.from({ length: instants }, (_, index) => Math.round(((index + 0.5) * rows) / instants));

/** For what takes long. */
export const oneMoment = process.env.PETSTOCK_RUNS === undefined ? [rows / 2] : moments;

export interface Setting<Server = PostgresServer> {
  readonly served: Served;
  readonly server: Server;
  /** The program on a machine that has nothing of another one but the address of the database. */
  machine(): ReturnType<typeof petstockAt>;
  stock(): Promise<ReadonlyMap<string, number>>;
  /** Begins to add 1 to each pet, on a machine of its own. It is not over before `release`: its last row is held back. */
  begin(): Program;
  release(): void;
  /** The pet of that row; `held` resolves once its change is held back. */
  readonly lastPet: string;
  readonly held: Promise<void>;
}

const oneServer = () => temporaryPostgres({ settings: ['fsync = on'] });

export function setting(): Promise<Setting> {
  return settingWith(oneServer);
}

/** @param start a database, by its URL */
export async function settingWith<Server extends { readonly url: string }>(
  start: () => Promise<Server>,
): Promise<Setting<Server>> {
  const [served, server] = await Promise.all([serve(unhurried), start()]);
  const alone = petstockAt(served);
  const stock = async () => {
    const { stdout } = await alone.run('inventory list -o csv --no-header -q');
    return new Map(
      stdout
        .trim()
        .split('\n')
        .map((line) => [line.split(',')[0] ?? '', Number(line.split(',')[1])]),
    );
  };
  const pets = [...(await stock()).keys()];
  const lastPet = pets.at(-1) ?? '';
  const { url, held, release } = await holdingProxy(
    served.url,
    (method, path) => method === 'PATCH' && path.endsWith(`/${lastPet}`),
  );
  const env = { ...served.env, PETSTOCK_URL_STAGING: url, PETSTOCK_STATE_URL: server.url };
  const machine = () => petstockAt({ env });
  const file = join(temporaryHome().folder, 'deltas.csv');
  writeFileSync(file, `petId,delta\n${pets.map((petId) => `${petId},+1`).join('\n')}\n`);
  const apply = ['inventory', 'apply', file, '--yes', '--concurrency', '4', ...timeout];
  // Nobody waits for the tables in what follows.
  await machine().run('state info');
  return { served, server, machine, stock, begin: () => startProgram(apply, { env }), release, lastPet, held };
}

const answered = async ({ journal }: Served) =>
  (await journal()).filter(({ method, status }) => method === 'PATCH' && status === 200).length;

export const untilAnswered = (served: Served, count: number) =>
  vi.waitFor(async () => expect(await answered(served)).toBeGreaterThanOrEqual(count), {
    timeout: 120_000,
    interval: 5,
  });

/** Resumed from another machine, each pet has got its 1, once. */
export async function expectResumed(
  { machine, stock, served }: Omit<Setting, 'server'>,
  before: ReadonlyMap<string, number>,
): Promise<void> {
  const other = machine();
  const runs = JSON.parse((await other.run('history list --json')).stdout) as RunRecordJson[];
  const [run] = runs;
  expect(runs).toHaveLength(1);
  if (run?.state !== 'done') {
    const resume = ['inventory', 'apply', '--resume', `${run?.run}`, '--yes', ...timeout];
    // A process of another machine is taken for gone when its lease is over.
    await vi.waitFor(async () => expect(await other.run(resume)).toMatchObject({ code: 0 }), {
      timeout: 120_000,
      interval: 1000,
    });
  }
  const wanted = new Map([...before].map(([petId, quantity]) => [petId, quantity + 1]));
  expect(await stock()).toEqual(wanted);
  // Each was sent with the stock that was wanted, and never with another one.
  // A request that was cut off by the kill of its machine has no body.
  const whole = (await served.journal()).filter(({ method, body }) => method === 'PATCH' && body !== null);
  for (const { path, body } of whole) {
    expect(JSON.parse(body ?? '{}').quantity).toBe(wanted.get(path.replace(/.*\//, '')));
  }
  expect(await other.run('state check')).toMatchObject({ code: 0 });
}
