import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command, Measurer } from '../support/measure.ts';
import type { Contestant } from '../support/rounds.ts';
import { requireExact } from './exactness.ts';
import {
  type Expected,
  everything,
  everythingForeign,
  fields,
  filtered,
  leastQuantity,
  sorted,
  summary,
} from './expected.ts';

/** What the contestants of one table share. */
export interface Scene {
  readonly measurer: Measurer;
  /** The executable of the Node that runs what runs on Node. */
  readonly node: string;
  /** The built program. */
  readonly program: string;
  readonly url: string;
  /** Of the compact list, where `url` is one in another shape. */
  readonly compactUrl?: string;
  readonly pets: number;
  /** The statuses are not ASCII. */
  readonly isForeign?: boolean;
  /** For what the program keeps, and for the output that is looked at. */
  readonly folder: string;
  /** The longest for one run. */
  readonly seconds: number;
  /** The version of `node` in the names of what runs on it, where several Nodes read the same list. */
  readonly version?: string | undefined;
}

export const names = {
  curl: 'curl to /dev/null',
  tsv: 'petstock, tsv',
  /** The compact list, beside one in another shape. */
  compact: 'petstock, tsv, compact',
  shaped: 'petstock, tsv, other shape',
  jq: 'curl, jq @tsv',
  fetch: 'fetch, JSON.parse, join',
  python: 'python3, json, csv',
} as const;

const filter = ['--status', 'available', '--min-quantity', String(leastQuantity)];

/** Ours, by name: the arguments after `inventory list`, and the rows that should come out. */
const lists: Readonly<Record<string, readonly [readonly string[], Expected]>> = {
  [names.tsv]: [['-o', 'tsv'], everything],
  'petstock, csv': [['-o', 'csv'], everything],
  'petstock, ndjson': [['-o', 'ndjson'], everything],
  'petstock, json': [['-o', 'json'], everything],
  'petstock, long table': [['-o', 'table'], everything],
  'petstock, tsv, two filters': [['-o', 'tsv', ...filter], filtered],
  'petstock, tsv, two fields': [['-o', 'tsv', '--fields', 'quantity,petId'], fields],
  'petstock, tsv, sorted': [['-o', 'tsv', '--sort', 'quantity'], sorted],
  'petstock, tsv, summary': [['-o', 'tsv', '--summary'], summary],
};

const peer = (file: string) => fileURLToPath(new URL(`peers/${file}`, import.meta.url));

const key = 'psk_bench';

export function curl({ measurer, url, seconds }: Scene): Contestant {
  const argv = ['curl', '-sf', '-o', '/dev/null', '-H', `Authorization: Bearer ${key}`, `${url}/inventory`];
  return { name: names.curl, attempt: () => measurer.run({ argv }, { stdout: '/dev/null', seconds }) };
}

/** The names of all that are ours. */
export const ours = Object.keys(lists);

export function petstock(scene: Scene, name: string): Contestant {
  const [args, expected] = lists[name] ?? [['-o', 'tsv'], scene.isForeign ? everythingForeign : everything];
  const env = {
    PETSTOCK_URL_STAGING: scene.url,
    PETSTOCK_API_KEY_STAGING: key,
    PETSTOCK_CONFIG_DIR: join(scene.folder, 'config'),
    PETSTOCK_STATE_DIR: join(scene.folder, 'state'),
  };
  const command = { argv: [scene.node, scene.program, 'inventory', 'list', ...args], env };
  return listing(scene, nameOn(scene.version, name), command, expected);
}

/** What a contestant is called on another Node than this one. */
export function nameOn(version: string | undefined, name: string): string {
  return version === undefined ? name : `${name}, Node ${version}`;
}

/** In the first so many rounds alone. */
export function inFew(rounds: number, make: (scene: Scene) => Contestant): (scene: Scene) => Contestant {
  return (scene) => ({ ...make(scene), rounds });
}

/** The program with a list in another shape. */
export function shaped(scene: Scene): Contestant {
  return petstock(scene, names.shaped);
}

/** What it prints is looked at where it is measured in all formats. */
export function compact(scene: Scene): Contestant {
  const { attempt, ...contestant } = petstock(
    { ...scene, url: scene.compactUrl ?? scene.url, isForeign: false },
    names.compact,
  );
  return { ...contestant, attempt: () => attempt(false) };
}

export function jq(scene: Scene): Contestant {
  const filter = '.[] | [.petId, .quantity, .status] | @tsv';
  const pipeline = `curl -sf -H "Authorization: Bearer $KEY" "$URL/inventory" | jq -r '${filter}'`;
  return other(scene, names.jq, ['sh', '-c', pipeline]);
}

export function fetchScript(scene: Scene): Contestant {
  return other(scene, nameOn(scene.version, names.fetch), [scene.node, peer('fetch.js')]);
}

export function python(scene: Scene): Contestant {
  return other(scene, names.python, [scene.measurer.python, peer('rows.py')]);
}

function other(scene: Scene, name: string, argv: readonly string[]): Contestant {
  const expected = scene.isForeign ? everythingForeign : everything;
  return listing(scene, name, { argv, env: { URL: scene.url, KEY: key } }, expected);
}

/** The output goes nowhere when it is measured; the first time it is looked at. */
function listing(scene: Scene, name: string, command: Command, expected: Expected): Contestant {
  const { measurer, seconds, pets, folder } = scene;
  return {
    name,
    async attempt(isWarmUp) {
      const stdout = isWarmUp ? join(folder, 'output') : '/dev/null';
      const sample = await measurer.run(command, { stdout, seconds });
      if (isWarmUp) await requireExact(stdout, expected, pets);
      return sample;
    },
  };
}
