import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command, Measurer } from '../support/measure.ts';
import { npmScript } from '../support/nodes.ts';
import { type Contestant, WrongResult } from '../support/rounds.ts';

/** What the contestants of one table share. */
export interface Scene {
  readonly measurer: Measurer;
  /** The executable of the Node that runs all of them. */
  readonly node: string;
  /** The built program. */
  readonly program: string;
  readonly url: string;
  readonly key: string;
  /** The program as an executable of its own; undefined where it is not measured. */
  readonly executable: string | undefined;
  /** GitHub's command line, where it is installed. */
  readonly gh: string | undefined;
  /** What the service has. */
  readonly stock: ReadonlyMap<string, number>;
  /** For what the program keeps, and for the output that is looked at. */
  readonly folder: string;
}

export const names = {
  node: 'node -e 0',
  version: 'petstock --version',
  help: 'petstock --help',
  verbHelp: 'petstock inventory list --help',
  configList: 'petstock config list',
  list: 'petstock inventory list',
  set: 'petstock inventory set',
  executableVersion: 'executable, --version',
  executableList: 'executable, inventory list',
} as const;

const peer = (file: string) => fileURLToPath(new URL(`peers/${file}`, import.meta.url));

/** In the order of the table. */
export function contestantsOf(scene: Scene): readonly Contestant[] {
  const { node, program, url, key, folder } = scene;
  const env = {
    PETSTOCK_URL_STAGING: url,
    PETSTOCK_API_KEY_STAGING: key,
    PETSTOCK_CONFIG_DIR: join(folder, 'config'),
    PETSTOCK_STATE_DIR: join(folder, 'state'),
  };
  const petstock = (...args: string[]): Command => ({ argv: [node, program, ...args], env });
  const script = (file: string): Command => ({ argv: [node, peer(file)], env: { URL: url, KEY: key } });
  const npm = npmScript();
  const list = listOf(scene.stock);
  // As it is: what the others find stays.
  const [petId, quantity] = [...scene.stock].find(([, each]) => each > 0) ?? ['4', 0];
  const isVersion = (output: string) => /^\d+\.\d+\.\d+\S*\n$/.test(output);
  const contestants = [
    one(scene, names.node, { argv: [node, '-e', '0'] }, (output) => output === ''),
    one(scene, names.version, petstock('--version'), isVersion),
    one(scene, names.help, petstock('--help'), (output) => output.includes('Usage: petstock')),
    one(scene, names.verbHelp, petstock('inventory', 'list', '--help'), (output) =>
      output.includes('Usage: petstock inventory list'),
    ),
    one(scene, names.configList, petstock('config', 'list'), (output) => output.includes('url.staging')),
    one(scene, names.list, petstock('inventory', 'list', '-o', 'json'), list),
    one(scene, names.set, petstock('inventory', 'set', petId, `${quantity}`, '--json'), (output) =>
      output.includes(`"quantity":${quantity}`),
    ),
  ];
  const { executable, gh } = scene;
  if (executable !== undefined) {
    contestants.push(
      one(scene, names.executableVersion, { argv: [executable, '--version'], env }, isVersion),
      one(scene, names.executableList, { argv: [executable, 'inventory', 'list', '-o', 'json'], env }, list),
    );
  }
  contestants.push(
    one(scene, 'node:http, one GET', script('http.js'), list),
    one(scene, 'fetch, one GET', script('fetch.js'), list),
  );
  if (npm !== undefined) {
    contestants.push(one(scene, 'npm --version', { argv: [node, npm, '--version'] }, (output) => /^\d/.test(output)));
  }
  if (gh !== undefined) {
    // Without it gh would look for a newer version now and then.
    const quiet = { GH_NO_UPDATE_NOTIFIER: '1', GH_CONFIG_DIR: join(folder, 'gh') };
    contestants.push(
      one(scene, 'gh --version', { argv: [gh, '--version'], env: quiet }, (output) => output.startsWith('gh version')),
      one(scene, 'gh --help', { argv: [gh, '--help'], env: quiet }, (output) => output.includes('USAGE')),
    );
  }
  return contestants;
}

/** Whether an output is the whole stock in JSON, with every digit. */
function listOf(stock: ReadonlyMap<string, number>): (output: string) => boolean {
  return (output) => {
    const items = [...output.matchAll(/\{"petId":(\d+),"quantity":(\d+),/g)];
    return items.length === stock.size && items.every(([, id = '', quantity]) => stock.get(id) === Number(quantity));
  };
}

function one(scene: Scene, name: string, command: Command, isRight: (output: string) => boolean): Contestant {
  return {
    name,
    async attempt(isWarmUp) {
      const stdout = isWarmUp ? join(scene.folder, 'output') : '/dev/null';
      const sample = await scene.measurer.run(command, { stdout, seconds: 20 });
      if (isWarmUp && !isRight(readFileSync(stdout, 'utf8'))) throw new WrongResult('another output than it should be');
      return sample;
    },
  };
}
