import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { serveLists } from './list/serve.ts';
import { compact, variants } from './list/shapes.ts';
import { changedStock, jsonOf, type Pet, stock } from './list/stock.ts';
import { buildProject } from './support/builds.ts';
import { temporaryFolder } from './support/children.ts';
import { type Measure, startMeasurer } from './support/measure.ts';
import { atMost, faultsOf, goalOf, megabytes, type Options, type Report, resultTable } from './support/report.ts';
import { type Contestant, runRounds, WrongResult } from './support/rounds.ts';
import { settingsFor } from './support/served.ts';

const listing = 'the two lists, one after the other';
const lists = [compact, ...variants].map(({ name }) => name);

/** Two lists of a million pets (`--pets`), of environments and of files, beside the time that listing both takes. */
export async function run({ isQuick, rounds = isQuick ? 3 : 5, pets = 1_000_000 }: Options): Promise<Report> {
  const { program } = await buildProject();
  const folder = temporaryFolder();
  const { urls } = await serveLists({ pets, shapes: lists, seed: 0 });
  writeFiles(folder, 'left', [...stock(pets)]);
  writeFiles(folder, 'right', [...changedStock(pets, 10)]);
  const results = await runRounds(contestants({ measure: await startMeasurer(), program, urls, folder, pets }), rounds);
  const both = results.get(listing);
  const diffs = [...results.values()].filter((result) => result !== both);
  const goal = goalOf('`inventory diff` of two lists', '250 MB, 3 x the two lists', [
    ...diffs.flatMap((result) => [
      [atMost(result.ratioTo(both), 3), result.name] as const,
      [megabytes(result.median('peakMb'), 250), ''] as const,
    ]),
    ...faultsOf([...results.values()]),
  ]);
  const text = resultTable(`${pets} and ${pets} pets`, results, [listing]);
  return { text, goals: pets === 1_000_000 ? [goal] : [] };
}

interface Scene {
  readonly measure: Measure;
  readonly program: string;
  /** Of `lists`. */
  readonly urls: readonly string[];
  readonly folder: string;
  readonly pets: number;
}

function writeFiles(folder: string, name: string, pets: readonly Pet[]): void {
  const csv = pets.map(({ petId, quantity, status }) => `${petId},${quantity},${status}\n`).join('');
  writeFileSync(join(folder, `${name}.csv`), `petId,quantity,status\n${csv}`);
  writeFileSync(join(folder, `${name}.ndjson`), pets.map((pet) => `${jsonOf(pet)}\n`).join(''));
  writeFileSync(join(folder, `${name}.json`), `[\n${pets.map(jsonOf).join(',\n')}\n]\n`);
}

function contestants(scene: Scene): readonly Contestant[] {
  const file = (name: string) => join(scene.folder, name);
  const environments = ['staging', 'production'] as const;
  return [
    listBoth(scene),
    diff(scene, 'environments, a tenth differs', environments, 'tenth'),
    diff(scene, 'environments, one in no order', environments, 'shuffled'),
    diff(scene, 'environments, every pet differs', environments, 'every'),
    ...['csv', 'json', 'ndjson'].map((extension) =>
      diff(scene, `files, ${extension}`, [file(`left.${extension}`), file(`right.${extension}`)], 'tenth'),
    ),
  ];
}

function listBoth(scene: Scene): Contestant {
  const list = (env: string) => measure(scene, ['list', '-o', 'ndjson', '--env', env], 'tenth');
  return {
    name: listing,
    attempt: async () => {
      const [left, right] = [await list('staging'), await list('production')];
      const peakMb = Math.max(left.peakMb, right.peakMb);
      return { ms: left.ms + right.ms, cpuMs: left.cpuMs + right.cpuMs, peakMb };
    },
  };
}

function diff(scene: Scene, name: string, sides: readonly [string, string], right: string): Contestant {
  return {
    name,
    attempt: async (isWarmUp) => {
      const sample = await measure(scene, ['diff', ...sides, '-o', 'ndjson'], right);
      if (isWarmUp) await requireRows(scene, right === 'every' ? 1 : 10);
      return sample;
    },
  };
}

function measure({ measure, program, urls, folder }: Scene, args: readonly string[], right: string) {
  const env = {
    ...settingsFor({ url: urls[0] ?? '', key: 'psk_0123456789abcdefghijklmn' }, folder),
    PETSTOCK_API_KEY: 'psk_0123456789abcdefghijklmn',
    PETSTOCK_URL_PRODUCTION: urls[lists.indexOf(right)] ?? '',
  };
  const argv = [process.execPath, program, 'inventory', ...args, '-q'];
  return measure({ argv, env }, { stdout: join(folder, 'out'), seconds: 180 });
}

/** Every line is a pet that has one more on the right, every `step`-th of the stock in its order. @throws WrongResult */
async function requireRows({ folder, pets }: Scene, step: number): Promise<void> {
  const expected = [...stock(pets)].filter((_, index) => index % step === 0);
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(join(folder, 'out')) })) {
    const pet = expected[count];
    const [left, right] = [pet?.quantity ?? 0, (pet?.quantity ?? 0) + 1];
    const side = (quantity: number) => `{"quantity":${quantity},"status":"${pet?.status}"}`;
    const wanted = `{"petId":${pet?.petId},"change":"changed","left":${side(left)},"right":${side(right)}}`;
    if (line !== wanted) throw new WrongResult(`line ${count + 1} is ${line}, not ${wanted}`);
    count += 1;
  }
  if (count !== expected.length) throw new WrongResult(`${count} lines, not ${expected.length}`);
}
