import * as expected from './list/expected.ts';
import { compact, type Shape, shapesOf } from './list/shapes.ts';
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
  filtered: 'petstock, tsv, two filters',
  sorted: 'petstock, tsv, sorted',
  summary: 'petstock, tsv, summary',
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

interface Spelled {
  readonly shape: Shape;
  readonly results: Results;
}

/**
 * Measures the list of a million pets (`--pets`) beside curl and fetch: over loopback and over a slower line; a fifth of
 * it in every format, and in every other spelling, one of them random (`--seed`); and the memory for five million. Takes
 * less than three minutes on an idle machine, and with `--quick` two thirds of that.
 */
export async function run({ isQuick, rounds = isQuick ? 1 : 2, ...options }: Options): Promise<Report> {
  const { pets = 1_000_000, seed = Date.now() % 1_000_000 } = options;
  const scene = { ...(await openWorkshop()), seed };
  const tsv = { pets, rounds, makers: [curl, petstock(names.tsv)] };
  const ours = (of: typeof formats) => Object.entries(of).map(([name, [args, rows]]) => petstock(name, args, rows));
  const some = Math.ceil(pets / 5);
  const [loopback] = await measureLists(scene, { ...tsv, makers: [...tsv.makers, ...ours(reduced), fetchScript] });
  const [written] = await measureLists(scene, { ...tsv, pets: some, makers: [...tsv.makers, ...ours(formats)] });
  const [throttled] = await measureLists(scene, { ...tsv, megabytesPerSecond: line });
  const shapes = shapesOf(seed);
  const spelled = await measureLists(scene, { ...tsv, pets: some, shapes, makers: [spelledTsv, fetchScript] });
  const [large] = await measureLists(scene, { pets: 5 * pets, rounds: 1, makers: [uncheckedTsv] });
  if (!loopback || !written || !throttled || !large) throw new Error('nothing was measured');
  const section = (title: string, { results }: Spelled) => resultTable(title, results, [names.curl, names.tsv]);
  const text = [
    section(`${pets} pets, loopback`, loopback),
    section(`${some} pets in every format`, written),
    section(`${pets} pets over a line of ${line} MB/s`, throttled),
    `${some} pets in other spellings, in ${rounds} rounds:\n\n${shapeTable(spelled)}\n`,
    `${5 * pets} pets, compact: ${whole(large.results.median(names.tsv, 'peakMb'))} MB.\n`,
  ];
  // The goals are only about this number of pets.
  const goals = pets === 1_000_000 ? goalsOf({ loopback, written, throttled, large }, spelled) : [];
  return { text: text.join('\n'), goals };
}

type Scene = Workshop & { readonly seed: number };

interface Lists {
  readonly pets: number;
  readonly rounds: number;
  readonly makers: readonly Maker[];
  readonly megabytesPerSecond?: number;
  /** Default: the compact list. */
  readonly shapes?: readonly Shape[];
}

type Maker = (scene: Scene & { readonly pets: number; readonly url: string; readonly shape: Shape }) => Contestant;

/** Measures one list after the other, all served by one process. */
async function measureLists(scene: Scene, lists: Lists): Promise<readonly Spelled[]> {
  const { pets, rounds, makers, megabytesPerSecond, shapes = [compact] } = lists;
  const served = await serveLists({
    pets,
    megabytesPerSecond,
    shapes: shapes.map(({ name }) => name),
    seed: scene.seed,
  });
  const found: Spelled[] = [];
  for (const [index, shape] of shapes.entries()) {
    const url = served.urls[index] ?? '';
    const results = await runRounds(
      makers.map((make) => make({ ...scene, pets, url, shape })),
      rounds,
    );
    found.push({ shape, results });
  }
  await served.stop();
  return found;
}

const curl: Maker = ({ measure, url }) => {
  const argv = ['curl', '-sf', '-o', '/dev/null', '-H', `Authorization: Bearer ${key}`, `${url}/inventory`];
  return { name: names.curl, attempt: () => measure({ argv }) };
};

function petstock(name: string, args = '-o tsv', rows = expected.everything): Maker {
  return (scene) =>
    listing(scene, name, [process.execPath, scene.program, 'inventory', 'list', ...args.split(' ')], rows);
}

/** Lists a list in another spelling. */
const spelledTsv: Maker = (scene) => {
  const rows = scene.shape.stock === undefined ? expected.everything : expected.everythingForeign;
  return petstock(names.tsv, '-o tsv', rows)(scene);
};

/** Lists without a check of the output, which the other measurements check. */
const uncheckedTsv: Maker = (scene) => {
  const { name, attempt } = petstock(names.tsv)(scene);
  return { name, attempt: () => attempt(false) };
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
  const { measure, pets, folder, url } = scene;
  const env = { ...settingsFor({ url, key }, folder), URL: url, KEY: key };
  return checked(measure, name, { argv, env }, (file) => requireRows(file, rows(pets), expected.rowIn));
}

const ofFetch = ({ results }: Spelled) => results.ratio(names.tsv, names.fetch, 'cpuMs');

function shapeTable(spelled: readonly Spelled[]): string {
  const rows = spelled.map((found) => {
    const { shape, results } = found;
    const cpu = (name: string) => (results.median(name, 'cpuMs') / 1000).toFixed(2);
    const peak = whole(results.median(names.tsv, 'peakMb'));
    return [
      ...[shape.name, cpu(names.fetch), cpu(names.tsv), times(ofFetch(found)), peak],
      results.get(names.tsv)?.fault ?? 'yes',
    ];
  });
  return table([['', 'CPU s of fetch', 'CPU s', 'CPU of fetch', 'peak MB', 'right'], ...rows]);
}

function goalsOf(
  compacts: Readonly<Record<'loopback' | 'written' | 'throttled' | 'large', Spelled>>,
  spelled: readonly Spelled[],
): Goal[] {
  const [loopback, throttled, large] = [compacts.loopback.results, compacts.throttled.results, compacts.large.results];
  const { results: written } = compacts.written;
  const ratio = (name: string, to: string, of?: 'cpuMs') => loopback.ratio(name, to, of);
  const memory = (results: Results, name: string = names.tsv) => results.median(name, 'peakMb');
  const slowest = Math.max(...Object.keys(formats).map((name) => written.ratio(name, names.filtered)));
  return [
    goalOf('list 1,000,000 in any legal spelling', `0.9 x the CPU of fetch + JSON.parse; ${most} MB`, [
      atMost(ratio(names.tsv, names.fetch, 'cpuMs'), 0.9, 'of fetch, compact'),
      atMost(Math.max(...spelled.map(ofFetch)), 0.9, 'of fetch, the slowest'),
      megabytes(memory(loopback), most),
      megabytes(Math.max(...spelled.map(({ results }) => memory(results))), most, 'the largest'),
      megabytes(memory(large), most, 'for 5,000,000'),
      ...spelled.flatMap(({ results }) => faultsOf(results, [names.tsv])),
    ]),
    goalOf('list 1,000,000 as TSV, compact', 'at 50 MB/s at most 1.15 x curl', [
      atMost(throttled.ratio(names.tsv, names.curl), 1.15, 'curl at 50 MB/s'),
      ...[loopback, throttled].flatMap((results) => faultsOf(results, [names.tsv])),
    ]),
    goalOf('any filter, any of ndjson, csv, tsv, json; long table', 'at most 1.5 x our own TSV with a filter', [
      atMost(slowest, 1.5, 'the slowest of them'),
      ...faultsOf(written, Object.keys(formats)),
    ]),
    goalOf('`--sort`, `--summary` of 1,000,000', 'sort at most 5 x our own TSV, 450 MB; summary at most 1.5 x', [
      atMost(ratio(names.sorted, names.tsv), 5, 'sorted'),
      megabytes(memory(loopback, names.sorted), 450, 'sorted'),
      atMost(ratio(names.summary, names.tsv), 1.5, 'summary'),
      ...faultsOf(loopback, Object.keys(reduced)),
    ]),
  ];
}
