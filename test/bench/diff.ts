import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compact, variants } from './list/shapes.ts';
import { changedStock, jsonOf, type Pet, stock } from './list/stock.ts';
import { openWorkshop, type Workshop } from './support/builds.ts';
import { type Command, checked, requireRows } from './support/measure.ts';
import { atMost, faultsOf, goalOf, megabytes, type Options, type Report, resultTable } from './support/report.ts';
import { type Contestant, runRounds } from './support/rounds.ts';
import { serveLists, settingsFor } from './support/served.ts';

const listing = 'the two lists, one after the other';
const lists = [compact, ...variants].map(({ name }) => name);

/**
 * Measures `inventory diff` of two lists of a million pets (`--pets`), between environments and between files, beside
 * listing both.
 */
export async function run({ isQuick, rounds = isQuick ? 3 : 5, pets = 1_000_000 }: Options): Promise<Report> {
  const workshop = await openWorkshop();
  const { folder } = workshop;
  const { urls } = await serveLists({ pets, shapes: lists, seed: 0 });
  writeFiles(folder, 'left', [...stock(pets)]);
  writeFiles(folder, 'right', [...changedStock(pets, 10)]);
  const results = await runRounds(contestants({ ...workshop, urls, pets }), rounds);
  const diffs = [...results.keys()].filter((name) => name !== listing);
  const goal = goalOf('`inventory diff` of two lists', '450 MB, 3 x the two lists', [
    ...diffs.flatMap((name) => [
      atMost(results.ratio(name, listing), 3, name),
      megabytes(results.median(name, 'peakMb'), 450),
    ]),
    ...faultsOf(results, [...results.keys()]),
  ]);
  const text = resultTable(`${pets} and ${pets} pets`, results, [listing]);
  return { text, goals: pets === 1_000_000 ? [goal] : [] };
}

/** The URLs are in the order of `lists`. */
type Scene = Workshop & { readonly urls: readonly string[]; readonly pets: number };

function writeFiles(folder: string, name: string, pets: readonly Pet[]): void {
  const csv = pets.map(({ petId, quantity, status }) => `${petId},${quantity},${status}\n`).join('');
  writeFileSync(join(folder, `${name}.csv`), `petId,quantity,status\n${csv}`);
  writeFileSync(join(folder, `${name}.ndjson`), pets.map((pet) => `${jsonOf(pet)}\n`).join(''));
  writeFileSync(join(folder, `${name}.json`), `[\n${pets.map(jsonOf).join(',\n')}\n]\n`);
}

function contestants(scene: Scene): readonly Contestant[] {
  const environments = ['staging', 'production'];
  const filesOf = (extension: string) => ['left', 'right'].map((name) => join(scene.folder, `${name}.${extension}`));
  return [
    listBoth(scene),
    diff(scene, 'environments, a tenth differs', environments, 'tenth'),
    diff(scene, 'environments, one in no order', environments, 'shuffled'),
    diff(scene, 'environments, every pet differs', environments, 'every'),
    ...['csv', 'json', 'ndjson'].map((each) => diff(scene, `files, ${each}`, filesOf(each), 'tenth')),
  ];
}

function listBoth(scene: Scene): Contestant {
  const list = (env: string) => scene.measure(commandOf(scene, ['list', '-o', 'ndjson', '--env', env], 'tenth'));
  const attempt = async () => {
    const [left, right] = [await list('staging'), await list('production')];
    const peakMb = Math.max(left.peakMb, right.peakMb);
    return { ms: left.ms + right.ms, cpuMs: left.cpuMs + right.cpuMs, peakMb };
  };
  return { name: listing, attempt };
}

function diff(scene: Scene, name: string, sides: readonly string[], right: string): Contestant {
  const command = commandOf(scene, ['diff', ...sides, '-o', 'ndjson'], right);
  return checked(scene.measure, name, command, (file) =>
    requireRows(file, differences(scene.pets, right === 'every' ? 1 : 10)),
  );
}

function commandOf({ program, urls, folder }: Scene, args: readonly string[], right: string): Command {
  const key = 'psk_0123456789abcdefghijklmn';
  const env = {
    ...settingsFor({ url: urls[0] ?? '', key }, folder),
    PETSTOCK_API_KEY: key,
    PETSTOCK_URL_PRODUCTION: urls[lists.indexOf(right)] ?? '',
  };
  return { argv: [process.execPath, program, 'inventory', ...args, '-q'], env };
}

/** Yields the expected lines: every `step`-th pet of the stock, with one more unit on the right. */
function* differences(pets: number, step: number): Generator<string> {
  for (const [index, { petId, quantity, status }] of [...stock(pets)].entries()) {
    const side = (quantity: number) => `{"quantity":${quantity},"status":"${status}"}`;
    const sides = `"left":${side(quantity)},"right":${side(quantity + 1)}`;
    if (index % step === 0) yield `{"petId":${petId},"change":"changed",${sides}}`;
  }
}
