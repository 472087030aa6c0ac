import { expect, vi } from 'vitest';
import { petstockAt } from './petstock.ts';
import { runSql, temporaryPostgres } from './postgres.ts';
import { hold, slowly } from './scripted-actions.ts';
import { type ScriptedService, scriptedService, tenEach, until } from './scripted-service.ts';

/** `PETSTOCK_RUNS=100` for the whole matrix. */
const instants = Number(process.env.PETSTOCK_RUNS ?? 2);
/** Pets 1 to 120, and a row for each. */
export const rows = 120;
/** Short, since a resume waits until no request of the killed process can be on its way any more. */
const timeout = ['--timeout', '1'];
export const moments = Array.from({ length: instants }, (_, index) => Math.round(((index + 0.5) * rows) / instants));

/** Moments for slow tests: one, unless `PETSTOCK_RUNS` asks for more. */
export const oneMoment = process.env.PETSTOCK_RUNS === undefined ? [rows / 2] : moments;

export type Setting = Awaited<ReturnType<typeof setting>>;

const oneServer = () => temporaryPostgres({ settings: ['fsync = on'] });

export const setting = () => settingWith(oneServer);

/** @param start a database, by its URL */
export async function settingWith<Server extends { readonly url: string }>(start: () => Promise<Server>) {
  const [service, server] = await Promise.all([scriptedService({ stock: tenEach(rows) }), start()]);
  const last = hold();
  service.next(`PATCH /inventory/${rows}`, last.action);
  // Leaves moments between the responses.
  let pace = slowly(8);
  service.always('PATCH', (exchange) => pace(exchange));
  const pause = () => {
    const { action, release } = hold(slowly(8));
    pace = action;
    return release;
  };
  const env = { ...service.env, PETSTOCK_STATE_URL: server.url };
  const machine = () => petstockAt({ env });
  const begin = () => {
    const petstock = machine();
    const lines = Array.from({ length: rows }, (_, index) => `${index + 1},+1`);
    const file = petstock.file('deltas.csv', ['petId,delta', ...lines]);
    return petstock.start(['inventory', 'apply', file, '--yes', '--concurrency', '4', ...timeout]);
  };
  const stock = () => Array.from({ length: rows }, (_, index) => service.stockOf(index + 1));
  // Nobody waits for the tables in what follows.
  await machine().run('state info');
  return {
    service,
    server,
    /** The program on a machine that has nothing of another one but the address of the database. */
    machine,
    /** By pet, from the first. */
    stock,
    /** Begins to add 1 to each pet, on a machine of its own. It is not over before `release`: its last row is held back. */
    begin,
    release: last.release,
    /** Holds back every request from now on. @returns a function that releases them */
    pause,
    /** Resolves once the change of the last pet is held back. */
    held: last.reached,
  };
}

export const untilAnswered = (service: ScriptedService, count: number) =>
  until(() =>
    expect(service.seen('PATCH').filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(count),
  );

/** Every request that was sent has its intent on the database's disk. */
export async function expectIntended({ seen }: Pick<ScriptedService, 'seen'>, { url }: { readonly url: string }) {
  const recorded = await runSql(url, "SELECT pet_id::text AS pet FROM petstock.rows WHERE result <> 'pending'");
  const paths = new Set(recorded.map(({ pet }) => `/inventory/${pet}`));
  expect(seen('PATCH').filter(({ path }) => !paths.has(path))).toEqual([]);
}

/** Resumed from another machine, each pet has got its 1, once. */
export async function expectResumed({ machine, stock, service }: Omit<Setting, 'server'>): Promise<void> {
  const other = machine();
  const runs = await other.history();
  const [run] = runs;
  expect(runs).toHaveLength(1);
  if (run?.state !== 'done') {
    const resume = ['inventory', 'apply', '--resume', `${run?.run}`, '--yes', ...timeout];
    // A process of another machine counts as dead once its lease has ended.
    await vi.waitFor(async () => expect(await other.run(resume)).toMatchObject({ code: 0 }), {
      timeout: 120_000,
      interval: 1000,
    });
  }
  expect(stock()).toEqual(Array(rows).fill(11));
  // Each was sent with the stock that was wanted, and never with another one.
  expect(new Set(service.seen('PATCH').map(({ body }) => body))).toEqual(new Set(['{"quantity":11}']));
  expect(await other.run('state check')).toMatchObject({ code: 0 });
}
