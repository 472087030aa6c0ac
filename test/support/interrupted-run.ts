import { expect, vi } from 'vitest';
import { petstockAt } from './petstock.ts';
import { runSql, temporaryPostgres } from './postgres.ts';
import { hold, type ScriptedService, scriptedService, slowly, tenEach, until } from './scripted-service.ts';

/** Number of moments at which runs are interrupted; `PETSTOCK_RUNS=100` tries nearly all. */
const instants = Number(process.env.PETSTOCK_RUNS ?? 2);
/** Number of rows, one for each of the pets 1 to 120. */
export const rows = 120;
/** A short timeout, because a resume waits until no request of the killed process can still be in flight. */
const timeout = ['--timeout', '1'];
export const moments = Array.from({ length: instants }, (_, index) => Math.round(((index + 0.5) * rows) / instants));

/** The moments for slow tests: one, unless `PETSTOCK_RUNS` asks for more. */
export const oneMoment = process.env.PETSTOCK_RUNS === undefined ? [rows / 2] : moments;

export type Setting = Awaited<ReturnType<typeof setting>>;

const oneServer = () => temporaryPostgres({ settings: ['fsync = on'] });

export const setting = () => settingWith(oneServer);

/**
 * Starts a service and a database for a run that a test interrupts.
 * @param start starts the database, and returns its URL
 */
export async function settingWith<Server extends { readonly url: string }>(start: () => Promise<Server>) {
  const [service, server] = await Promise.all([scriptedService({ stock: tenEach(rows) }), start()]);
  const last = hold();
  service.next(`PATCH /inventory/${rows}`, last.action);
  // The delay leaves time to pause between two responses.
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
  // The tables are created first, so that no later command has to wait for them.
  await machine().run('state init');
  return {
    service,
    server,
    /** Returns the program on a new machine, which shares only the address of the database with other machines. */
    machine,
    /** Returns the stock of all pets, from the first. */
    stock,
    /**
     * Begins to add 1 to each pet, on a machine of its own. The run does not end before `release`, because the response
     * to its last row is held back.
     */
    begin,
    release: last.release,
    /**
     * Holds back every request from now on.
     * @returns a function that releases the requests
     */
    pause,
    /** Resolves once the change of the last pet is held back. */
    held: last.reached,
  };
}

export const untilAnswered = (service: ScriptedService, count: number) =>
  until(() =>
    expect(service.seen('PATCH').filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(count),
  );

/** Checks that every request that was sent has its intent on the database's disk. */
export async function expectIntended({ seen }: Pick<ScriptedService, 'seen'>, { url }: { readonly url: string }) {
  const recorded = await runSql(url, "SELECT pet_id::text AS pet FROM petstock.rows WHERE result <> 'pending'");
  const paths = new Set(recorded.map(({ pet }) => `/inventory/${pet}`));
  expect(seen('PATCH').filter(({ path }) => !paths.has(path))).toEqual([]);
}

/** Checks that, after a resume from another machine, each pet has got its 1 exactly once. */
export async function expectResumed({ machine, stock, service }: Omit<Setting, 'server'>): Promise<void> {
  const other = machine();
  const runs = await other.history();
  const [run] = runs;
  expect(runs).toHaveLength(1);
  if (run?.state !== 'done') {
    const resume = ['inventory', 'apply', '--resume', `${run?.run}`, '--yes', ...timeout];
    // The lock of a run ends with the connection of its process; the database may take a moment to notice.
    await vi.waitFor(async () => expect(await other.run(resume)).toMatchObject({ code: 0 }), {
      timeout: 120_000,
      interval: 1000,
    });
  }
  expect(stock()).toEqual(Array(rows).fill(11));
  // Every request set the wanted stock.
  expect(new Set(service.seen('PATCH').map(({ body }) => body))).toEqual(new Set(['{"quantity":11}']));
  expect(await other.run('state check')).toMatchObject({ code: 0 });
}
