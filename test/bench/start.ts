import { readFileSync } from 'node:fs';
import { installNodes, openWorkshop, type Workshop } from './support/builds.ts';
import { temporaryFolder } from './support/children.ts';
import { type Command, checked } from './support/measure.ts';
import type { Options, Report } from './support/report.ts';
import { atMost, faultsOf, goalOf, megabytes, resultTable } from './support/report.ts';
import { type Contestant, type Results, runRounds, WrongResult } from './support/rounds.ts';
import { type Served, serve, settingsFor } from './support/served.ts';

const names = {
  node: 'node -e 0',
  version: 'petstock --version',
  help: 'petstock --help',
  verbHelp: 'petstock inventory list --help',
  configList: 'petstock config list',
  list: 'petstock inventory list',
  set: 'petstock inventory set',
} as const;

/**
 * Measures how long the program takes to start, beside Node itself and one GET, on this Node and on others (`--nodes
 * 20,22,24`). The other Nodes need the registry; `--quick` leaves them out.
 */
export async function run({ isQuick, rounds = isQuick ? 8 : 25, nodes }: Options): Promise<Report> {
  const own = { version: process.versions.node, node: process.execPath };
  const lines = (nodes ?? (isQuick ? '' : '20,22,24')).split(',');
  const others = await installNodes(lines.filter((line) => line !== '' && line !== own.version.split('.')[0]));
  const workshop = await openWorkshop();
  const served = await serve({ program: workshop.program, pets: 24 });
  const found: (readonly [version: string, results: Results])[] = [];
  for (const { version, node } of [own, ...others]) {
    found.push([version, await runRounds(await contestantsOf({ ...workshop, node, served }), rounds)]);
  }
  const tables = found.map(([version, results]) => resultTable(`Node ${version}`, results, [names.node], 'ms'));
  return { text: tables.join('\n'), goals: goalsOf(found) };
}

type Scene = Workshop & { readonly node: string; readonly served: Served };

/** Returns the contestants in the order of the table. */
async function contestantsOf({ measure, node, program, served }: Scene): Promise<readonly Contestant[]> {
  const env = settingsFor(served, temporaryFolder());
  const stock = await served.stock();
  const [petId, quantity] = [...stock].find(([, each]) => each > 0) ?? ['4', 0];
  const one = (name: string, command: Command, isRight: (output: string) => boolean) =>
    checked(measure, name, command, (file) => {
      if (!isRight(readFileSync(file, 'utf8'))) throw new WrongResult('another output than it should be');
    });
  const ours = (name: string, args: string, isRight: (output: string) => boolean) =>
    one(name, { argv: [node, program, ...args.split(' ')], env }, isRight);
  const has = (text: string) => (output: string) => output.includes(text);
  const isWhole = (output: string) => {
    const items = [...output.matchAll(/\{"petId":(\d+),"quantity":(\d+),/g)];
    return items.length === stock.size && items.every(([, id = '', quantity]) => stock.get(id) === Number(quantity));
  };
  const script = (name: string, text: string) =>
    one(name, { argv: [node, '--input-type=module', '-e', text], env: { URL: served.url, KEY: served.key } }, isWhole);
  return [
    one(names.node, { argv: [node, '-e', '0'] }, (output) => output === ''),
    ours(names.version, '--version', (output) => /^\d+\.\d+\.\d+\S*\n$/.test(output)),
    ours(names.help, '--help', has('Usage: petstock')),
    ours(names.verbHelp, 'inventory list --help', has('Usage: petstock inventory list')),
    ours(names.configList, 'config list', has('url.staging')),
    ours(names.list, 'inventory list -o json', isWhole),
    // Sets the quantity that the pet already has, so that the other contestants find the same stock.
    ours(names.set, `inventory set ${petId} ${quantity} --json`, has(`"quantity":${quantity}`)),
    script('node:http, one GET', httpScript),
    script('fetch, one GET', fetchScript),
  ];
}

/** The fastest way to send one request in Node. */
const httpScript = `import { get } from 'node:http';
const headers = { authorization: 'Bearer ' + process.env.KEY };
get(process.env.URL + '/inventory', { headers }, (response) => response.pipe(process.stdout));`;

/** The way in which most scripts send a request. */
const fetchScript = `const headers = { authorization: 'Bearer ' + process.env.KEY };
const response = await fetch(process.env.URL + '/inventory', { headers });
process.stdout.write(await response.text());`;

/** Judges CPU time, which a busy machine changes less. A goal is reached if it is reached on each Node. */
function goalsOf(found: readonly (readonly [version: string, results: Results])[]): Report['goals'] {
  /** @param limits the limits on Node 20, 22 and so on; the last limit is also that of later Nodes */
  const goal = (what: string, limits: readonly [number, ...number[]], ...of: readonly string[]) => {
    const ratios = of.flatMap((name) =>
      found.flatMap(([version, results]) => {
        const major = Number.parseInt(version, 10);
        const on = `${name.replace('petstock ', '')} on ${major}`;
        const limit = limits[(major - 20) / 2] ?? limits.at(-1) ?? 0;
        return results.has(name) ? [atMost(results.ratio(name, names.node, 'cpuMs'), limit, on)] : [];
      }),
    );
    const faults = found.flatMap(([, results]) => faultsOf(results, of));
    return goalOf(what, `at most ${limits.join(', ')} x`, [...ratios, ...faults]);
  };
  const peak = Math.max(...found.map(([, results]) => results.median(names.list, 'peakMb')));
  return [
    goal('`--version`', [1.1], names.version),
    goal('`--help` of any command', [1.8], names.help, names.verbHelp),
    goal('`config list`', [1.8], names.configList),
    goal('`inventory list` of 24 pets on Node 20, 22, 24', [3.1, 2.8, 2.9], names.list),
    goalOf('memory of that', 'at most 60 MB', [megabytes(peak, 60)]),
    goal('`inventory set` on Node 20, 22, 24', [3.2, 2.9, 3], names.set),
  ].filter(({ reached }) => reached !== '-');
}
