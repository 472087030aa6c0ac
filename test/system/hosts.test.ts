import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ListedRun, petstockAt } from '../support/petstock.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { type Home, programCommand, serve, startProgram, temporaryHome } from '../support/program.ts';

const hosts = ['till-1', 'till-2', 'office', 'ci'] as const;
type Host = (typeof hosts)[number];

/** How many seconds the monotonic clock of each is ahead of that of this machine. */
const ahead: Readonly<Record<Host, number>> = { 'till-1': 0, 'till-2': 5000, office: 123, ci: 900_000 };

/** Namespaces of its own: host name, process ids, mounts; and clocks, where the kernel has those. */
const places = [
  ['--uts', '--pid', '--fork', '--mount', '--mount-proc', '--time', '--monotonic=1', '--boottime=1'],
  ['--uts', '--pid', '--fork', '--mount', '--mount-proc'],
];
const asRoot = process.geteuid?.() === 0 ? [] : ['--map-root-user'];
/** What of that is permitted here: containers and some systems let nobody, or root alone. */
const permitted = places.find((options) => {
  const script = 'hostname till && mount -t tmpfs none /mnt';
  return spawnSync('unshare', [...asRoot, ...options, 'sh', '-c', script]).status === 0;
});
const how =
  permitted === undefined
    ? 'in one place, since namespaces are NOT PERMITTED HERE'
    : `with ${permitted.filter((option) => !/=|fork|proc/.test(option)).join(' ')} of their own`;

interface Machine {
  readonly host: Host;
  readonly home: Home;
}

/** Lines for a shell in which `petstock` is the program. @returns the exit code of the last line that failed, or 0 */
async function shellOn({ host, home }: Machine, env: Readonly<Record<string, string>>, lines: readonly string[]) {
  const program = programCommand()
    .map((word) => `'${word}'`)
    .join(' ');
  const isolated = [`hostname ${host}`, `mount -t tmpfs none ${home.folder}`, `mkdir ${home.folder}/tmp`];
  const script = ['set -e', ...(permitted === undefined ? [] : isolated), `petstock() { ${program} "$@"; }`, ...lines];
  const options = permitted?.map((option) => option.replace(/=1$/, `=${ahead[host]}`));
  const through = [...(options === undefined ? [] : ['unshare', ...asRoot, ...options])];
  return startProgram([], { home, env, through: [...through, 'sh', '-c', script.join('\n')] }).result;
}

async function databaseOverTcp(): Promise<string> {
  const { port } = await temporaryPostgres({ tcp: 'plain', access: ['host all all 127.0.0.1/32 trust'] });
  return `postgresql://postgres@127.0.0.1:${port}/postgres`;
}

test(`four hosts ${how}: no 429, no lost adjust, one history`, async () => {
  const limits = ['--limit-minute', '40', '--limit-day', '1000000', '--window-seconds', '2', '--pets', '60'];
  const [served, stateUrl] = await Promise.all([serve(limits), databaseOverTcp()]);
  const env = { ...served.env, PETSTOCK_STATE_URL: stateUrl };
  const here = petstockAt({ env });
  const stock = async () => {
    const { stdout } = await here.run('inventory list -o csv --no-header -q');
    return new Map(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(',').slice(0, 2) as [string, string]),
    );
  };
  const before = await stock();
  const [shared = '', ...rest] = before.keys();
  // The same paths on each, and something else behind them.
  const home = temporaryHome();
  mkdirSync(home.folder, { recursive: true });
  const changes = rest.slice(0, 30).map((petId, index) => `${petId},${index + 100}`);
  const file = join(temporaryHome().folder, 'counts.csv');
  writeFileSync(file, ['petId,quantity', ...changes].join('\n'));
  const eight = 'for time in 1 2 3 4 5 6 7 8; do';
  const work: Readonly<Record<Host, string>> = {
    'till-1': `petstock inventory apply ${file} --yes`,
    'till-2': `for pet in ${rest.slice(30, 38).join(' ')}; do petstock inventory set $pet 7 -q; done`,
    office: `${eight} petstock inventory adjust ${shared} +1 -q; done`,
    ci: `${eight} petstock inventory adjust ${shared} +10 -q; done`,
  };
  const ended = await Promise.all(
    hosts.map((host) =>
      shellOn({ host, home }, { ...env, USER: `of-${host}`, TMPDIR: `${home.folder}/tmp` }, [work[host]]),
    ),
  );
  expect(ended.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0, 0, 0]);
  expect((await served.journal()).filter(({ status }) => status === 429)).toEqual([]);
  const after = await stock();
  expect(Number(after.get(shared))).toBe(Number(before.get(shared)) + 8 + 80);
  for (const change of changes) expect(after).toContainEqual(change.split(','));
  const runs = (await here.history()) as readonly (ListedRun & { readonly host: string; readonly user: string })[];
  expect(runs).toHaveLength(1 + 3 * 8);
  expect(runs.filter(({ state }) => state !== 'done')).toEqual([]);
  const names = new Set(runs.map(({ host, user }) => (permitted === undefined ? user : `${user}@${host}`)));
  expect(names).toEqual(new Set(hosts.map((host) => (permitted === undefined ? `of-${host}` : `of-${host}@${host}`))));
  expect(await here.run('state check')).toMatchObject({ code: 0 });
}, 300_000);
