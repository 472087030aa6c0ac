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
  list: 'petstock inventory list',
} as const;

const peer = (file: string) => fileURLToPath(new URL(`peers/${file}`, import.meta.url));

/** In the order of the table. */
export function contestantsOf(scene: Scene): readonly Contestant[] {
  const { node, program, url, key, folder } = scene;
  const petstock = (...args: string[]): Command => ({
    argv: [node, program, ...args],
    env: {
      PETSTOCK_URL_STAGING: url,
      PETSTOCK_API_KEY_STAGING: key,
      PETSTOCK_CONFIG_DIR: join(folder, 'config'),
      PETSTOCK_STATE_DIR: join(folder, 'state'),
    },
  });
  const script = (file: string): Command => ({ argv: [node, peer(file)], env: { URL: url, KEY: key } });
  const npm = npmScript();
  const list = listOf(scene.stock);
  return [
    one(scene, names.node, { argv: [node, '-e', '0'] }, (output) => output === ''),
    one(scene, names.version, petstock('--version'), (output) => /^\d+\.\d+\.\d+\S*\n$/.test(output)),
    one(scene, names.help, petstock('--help'), (output) => output.includes('Usage: petstock')),
    one(scene, names.verbHelp, petstock('inventory', 'list', '--help'), (output) =>
      output.includes('Usage: petstock inventory list'),
    ),
    one(scene, names.list, petstock('inventory', 'list', '-o', 'json'), list),
    one(scene, 'node:http, one GET', script('http.js'), list),
    one(scene, 'fetch, one GET', script('fetch.js'), list),
    ...(npm === undefined
      ? []
      : [one(scene, 'npm --version', { argv: [node, npm, '--version'] }, (output) => /^\d/.test(output))]),
  ];
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
