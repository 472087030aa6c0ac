import * as expected from './list/expected.ts';
import { compact, nested, type Shape, shapesOf } from './list/shapes.ts';
import { openWorkshop, type Workshop } from './support/builds.ts';
import { checked, requireRows } from './support/measure.ts';
import type { Goal, Options, Report } from './support/report.ts';
import { atMost, faultsOf, goalOf, megabytes, resultTable, table, times, whole } from './support/report.ts';
import { type Contestant, type Results, runRounds } from './support/rounds.ts';
import { serveLists, settingsFor } from './support/served.ts';

const names = {
  curl: 'curl to /dev/null',
  tsv: 'petstock, tsv',
  /** Lists only the first pet, so most of its time is the program's start. */
  start: 'petstock, tsv, the first pet',
  /** The compact list, measured beside a list in another spelling. */
  compact: 'petstock, tsv, compact',
  filtered: 'petstock, tsv, two filters',
  sorted: 'petstock, tsv, sorted',
  summary: 'petstock, tsv, summary',
  jq: 'curl, jq @tsv',
  fetch: 'fetch, JSON.parse, join',
} as const;

/** Our commands beside the plain TSV, by name: the arguments after `inventory list`, and the expected rows. */
const formats: Readonly<Record<string, readonly [string, expected.Expected]>> = {
  'petstock, csv': ['-o csv', expected.everything],
  'petstock, ndjson': ['-o ndjson', expected.everything],
  'petstock, json': ['-o json', expected.everything],
  'petstock, long table': ['-o table', expected.everything],
  [names.filtered]: [`-o tsv --status available --min-quantity ${expected.minQuantity}`, expected.filtered],
  'petstock, tsv, two fields': ['-o tsv --fields quantity,petId', expected.fields],
};
const reduced: typeof formats = {
  [names.sorted]: ['-o tsv --sort quantity', expected.sorted],
  [names.summary]: ['-o tsv --summary', expected.summary],
  [names.start]: ['-o tsv --limit 1', expected.first],
};

/** The memory for a list of any length, in MB. */
const most = 130;

/** The speed of the slower line, in MB/s. */
const line = 50;
const key = 'psk_bench';

interface Found {
  readonly shape: Shape;
  readonly results: Results;
  /** The size of the list in bytes, divided by that of the compact list. */
  readonly size: number;
}

/**
 * Measures the list of a million pets (`--pets`) beside curl, jq and fetch: over loopback and over a slower line, in
 * every other spelling, one of them random (`--seed`), and with five million pets. `--quick` takes about two minutes on
 * an idle machine: it leaves out the five million, jq, and three quarters of the spellings, depending on the seed.
 */
export async function run({ isQuick, rounds = isQuick ? 2 : 5, ...options }: Options): Promise<Report> {
  const { pets = 1_000_000, seed = Date.now() % 1_000_000 } = options;
  const scene = { ...(await openWorkshop()), seed };
  const few = Math.min(3, rounds);
  const tsv = { rounds: few, makers: [curl, petstock(names.tsv)] };
  const ours = Object.entries({ ...formats, ...reduced }).map(([name, [args, rows]]) => petstock(name, args, rows));
  const makers = [...tsv.makers, ...ours, ...(isQuick ? [] : [jq]), fetchScript];
  const { results: loopback } = await measureList(scene, { pets, rounds, makers });
  const { results: throttled } = await measureList(scene, { ...tsv, pets, megabytesPerSecond: line });
  const shapes: Found[] = [];
  const spellings = shapesOf(seed).filter((_, index) => !isQuick || index % 4 === seed % 4);
  for (const shape of spellings) {
    const rows = shape.stock === undefined ? expected.everything : expected.everythingForeign;
    const makers = [curl, compactOne, petstock(names.tsv, '-o tsv', rows), fetchScript];
    shapes.push(await measureList(scene, { pets, rounds: few, shape, makers }));
  }
  const large: Found[] = [];
  for (const shape of isQuick ? [] : [compact, nested])
    large.push(await measureList(scene, { ...tsv, pets: 5 * pets, shape }));
  const section = (title: string, results: Results) => resultTable(title, results, [names.curl, names.tsv]);
  const text = [
    section(`${pets} pets, loopback`, loopback),
    section(`${pets} pets over a line of ${line} MB/s`, throttled),
    `${pets} pets in other spellings, each in turn with the compact one, in ${few} rounds:\n\n${shapeTable(shapes)}\n`,
    ...large.map(({ shape, results }) =>
      section(`${5 * pets} pets, ${shape === nested ? 'nested' : 'loopback'}`, results),
    ),
  ];
  const all = large.map(({ results }) => results);
  // The goals are only about this number of pets.
  return { text: text.join('\n'), goals: pets === 1_000_000 ? goalsOf(loopback, throttled, shapes, all) : [] };
}

type Scene = Workshop & { readonly seed: number };

interface List {
  readonly pets: number;
  readonly rounds: number;
  readonly makers: readonly Maker[];
  readonly megabytesPerSecond?: number;
  /** Default: the compact list. */
  readonly shape?: Shape;
}

type Maker = (scene: Scene & { readonly pets: number; readonly urls: readonly string[] }) => Contestant;

async function measureList(scene: Scene, list: List): Promise<Found> {
  const { pets, rounds, makers, megabytesPerSecond, shape = compact } = list;
  const shapes = [...new Set([shape.name, compact.name])];
  const { urls, bytes, stop } = await serveLists({ pets, megabytesPerSecond, shapes, seed: scene.seed });
  const results = await runRounds(
    makers.map((make) => make({ ...scene, pets, urls })),
    rounds,
  );
  await stop();
  return { shape, results, size: (bytes[0] ?? 0) / (bytes.at(-1) ?? 0) };
}

const curl: Maker = ({ measure, urls: [url] }) => {
  const argv = ['curl', '-sf', '-o', '/dev/null', '-H', `Authorization: Bearer ${key}`, `${url}/inventory`];
  return { name: names.curl, attempt: () => measure({ argv }) };
};

function petstock(name: string, args = '-o tsv', rows = expected.everything): Maker {
  return (scene) =>
    listing(scene, name, [process.execPath, scene.program, 'inventory', 'list', ...args.split(' ')], rows);
}

/**
 * Lists the compact list beside a list in another spelling. Its output is not checked here, since the first measurement
 * checks it in all formats.
 */
const compactOne: Maker = (scene) => {
  const { name, attempt } = petstock(names.compact)({ ...scene, urls: scene.urls.slice(1) });
  return { name, attempt: () => attempt(false) };
};

const jq: Maker = (scene) => {
  const filter = '.[] | [.petId, .quantity, .status] | @tsv';
  const pipeline = `curl -sf -H "Authorization: Bearer $KEY" "$URL/inventory" | jq -r '${filter}'`;
  return listing(scene, names.jq, ['sh', '-c', pipeline]);
};

/** Lists as most scripts do: fetch, JSON.parse and one write. */
const fetchScript: Maker = (scene) => {
  const script = `const headers = { authorization: 'Bearer ' + process.env.KEY };
const items = await (await fetch(process.env.URL + '/inventory', { headers })).json();
const lines = items.map(({ petId, quantity, status }) => petId + '\\t' + quantity + '\\t' + status);
process.stdout.write(lines.join('\\n') + '\\n');`;
  return listing(scene, names.fetch, [process.execPath, '--input-type=module', '-e', script]);
};

function listing(
  scene: Parameters<Maker>[0],
  name: string,
  argv: readonly string[],
  rows = expected.everything,
): Contestant {
  const { measure, pets, folder, urls } = scene;
  const [url = ''] = urls;
  const env = { ...settingsFor({ url, key }, folder), URL: url, KEY: key };
  return checked(measure, name, { argv, env }, (file) => requireRows(file, rows(pets), expected.rowIn));
}

const ofFetch = ({ results }: Found) => results.ratio(names.tsv, names.fetch, 'cpuMs');

function shapeTable(shapes: readonly Found[]): string {
  const rows = shapes.map((found) => {
    const { shape, results, size } = found;
    const seconds = (name: string) => (results.median(name, 'ms') / 1000).toFixed(2);
    return [
      shape.name,
      times(size),
      seconds(names.curl),
      seconds(names.tsv),
      times(ofFetch(found)),
      whole(results.median(names.tsv, 'peakMb')),
      results.get(names.tsv)?.fault ?? 'yes',
    ];
  });
  return table([['', 'bytes', 'curl s', 's', 'CPU of fetch', 'peak MB', 'right'], ...rows]);
}

/** @param large the results of the list that is five times as long, compact and nested; empty if it was left out */
function goalsOf(loopback: Results, throttled: Results, shapes: readonly Found[], large: readonly Results[]): Goal[] {
  const ratio = (name: string, to: string, of?: 'cpuMs') => loopback.ratio(name, to, of);
  const memory = (results: Results | undefined, name: string = names.tsv) =>
    results?.median(name, 'peakMb') ?? Number.NaN;
  const [many, manyNested] = large;
  const five = goalOf('list 5,000,000, compact and nested', `${most} MB`, [
    megabytes(memory(many), most),
    megabytes(memory(manyNested), most, 'nested'),
    ...large.flatMap((results) => faultsOf(results, [names.tsv])),
  ]);
  const slowest = Math.max(...Object.keys(formats).map((name) => ratio(name, names.filtered)));
  return [
    goalOf('list 1,000,000 in any legal spelling', `0.9 x the CPU of fetch + JSON.parse; ${most} MB`, [
      atMost(ratio(names.tsv, names.fetch, 'cpuMs'), 0.9, 'of fetch, compact'),
      atMost(Math.max(...shapes.map(ofFetch)), 0.9, 'of fetch, the slowest'),
      megabytes(memory(loopback), most),
      megabytes(Math.max(...shapes.map(({ results }) => memory(results))), most, 'the largest'),
      ...shapes.flatMap(({ results }) => faultsOf(results, [names.tsv])),
    ]),
    goalOf('list 1,000,000 as TSV, compact', 'at 50 MB/s at most 1.15 x curl', [
      atMost(throttled.ratio(names.tsv, names.curl), 1.15, 'curl at 50 MB/s'),
      ...[loopback, throttled].flatMap((results) => faultsOf(results, [names.tsv])),
    ]),
    ...(large.length === 0 ? [] : [five]),
    goalOf('any filter, any of ndjson, csv, tsv, json; long table', 'at most 1.5 x our own TSV with a filter', [
      atMost(slowest, 1.5, 'the slowest of them'),
      ...faultsOf(loopback, Object.keys(formats)),
    ]),
    goalOf('`--sort`, `--summary` of 1,000,000', 'sort at most 5 x our own TSV, 450 MB; summary at most 1.5 x', [
      atMost(ratio(names.sorted, names.tsv), 5, 'sorted'),
      megabytes(memory(loopback, names.sorted), 450, 'sorted'),
      atMost(ratio(names.summary, names.tsv), 1.5, 'summary'),
      ...faultsOf(loopback, Object.keys(reduced)),
    ]),
  ];
}
