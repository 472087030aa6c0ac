import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { examplesOfDocument, examplesOfHelp } from '../support/examples.ts';
import { type Home, programCommand, startProgram, temporaryHome } from '../support/program.ts';

/** Exit codes of the command lines that have to fail. */
const otherCodes: Readonly<Record<string, number>> = {
  'petstock inventory apply bad.csv': 2,
  // The latest run is finished.
  'petstock history discard <run>': 2,
};

/** Reports whether an example is skipped. All others run unchanged, in a folder with the files that they use. */
function skipped(line: string): boolean {
  // npm, psql and git are not petstock. `serve`, and `watch` without --for, never end, and have their own tests.
  return (
    line.includes('npm ') ||
    line.includes('| psql') ||
    line.includes('sandbox serve') ||
    /inventory watch(?!.* --for)/.test(line) ||
    line.includes('git clone')
  );
}

const key = 'psk_0123456789abcdefghijklmnopqrst';
const documents = [
  'README.md',
  'docs/guide/spreadsheet.md',
  'docs/guide/stock-count.md',
  'docs/guide/scripts.md',
  'docs/reference/service.md',
  'docs/reference/guarantees.md',
];

describe('examples', () => {
  test('runs the examples in the documents with the expected exit codes', { timeout: 120_000 }, async () => {
    const home = await examplesHome();
    expect(await failures(home, documents.flatMap(examplesOfDocument))).toEqual([]);
  });

  test('runs the examples in the help with the expected exit codes', { timeout: 180_000 }, async () => {
    const home = await examplesHome();
    const examples = await examplesOfHelp();
    expect(examples.length).toBeGreaterThan(60);
    expect(await failures(home, examples)).toEqual([]);
  });
});

async function examplesHome(): Promise<Home> {
  const home = temporaryHome();
  const folder = join(home.folder, 'work');
  mkdirSync(folder, { recursive: true });
  const files = {
    'stock.csv': 'petId,quantity\n4,12\n',
    'edited.csv': 'petId,quantity\n5,7\n8,40\n',
    'delivery.csv': 'SKU,Name,Pieces\n4,Rex,2\n',
    'back.csv': 'petId,quantity\n6,9\n',
    'failed.csv': 'petId,quantity\n6,9\n',
    'bad.csv': 'petId,quantity\n4,many\n',
    'body.json': '{"quantity":3}',
    'key.txt': `${key}\n`,
    'north.key': `${key}\n`,
    'scans.txt': '4\n5 x3\n',
    'aisle-3.txt': '4\n',
    'aisle-4.txt': '4\n8\n',
    'codes.csv': 'code,petId,name\n5012345678900,4,Rabbit\n',
    'url.txt': 'postgresql://petstock:secret@db.example/petstock?sslmode=verify-full\n',
  };
  const kept = join(home.folder, 'files');
  mkdirSync(kept);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(kept, name), text);
  return home;
}

/** Gives every store of the examples the address and key of one service. */
function storeVariables({ url, key }: { readonly url: string; readonly key: string }): Record<string, string> {
  const places = ['NORTH', 'SOUTH'].flatMap((store) => ['STAGING', 'PRODUCTION'].map((env) => ({ store, env })));
  return Object.fromEntries(
    places.flatMap(({ store, env }) => [
      [`PETSTOCK_${store}_URL_${env}`, url],
      [`PETSTOCK_${store}_API_KEY_${env}`, key],
    ]),
  );
}

/** Runs the lines one after another in one shell. @returns those with an unexpected exit code */
async function failures(home: Home, lines: readonly string[]): Promise<string[]> {
  const service = startProgram('sandbox serve --port 0 --file :memory: --no-ban --json');
  const served = JSON.parse(await service.until('stdout', '}\n')) as { url: string; key: string };
  const chosen = lines.filter((line) => !skipped(line));
  const { stdout, stderr } = spawnSync('bash', ['-c', script(chosen)], {
    cwd: join(home.folder, 'work'),
    encoding: 'utf8',
    maxBuffer: 100_000_000,
    env: {
      PATH: process.env.PATH,
      PETSTOCK_CONFIG_DIR: home.config,
      PETSTOCK_STATE_DIR: home.state,
      PETSTOCK_ENV: 'sandbox',
      PETSTOCK_URL_PRODUCTION: served.url,
      PETSTOCK_API_KEY_PRODUCTION: served.key,
      PETSTOCK_URL_STAGING: served.url,
      PETSTOCK_API_KEY_STAGING: served.key,
      ...storeVariables(served),
    },
  });
  const codes = [...stdout.matchAll(/^@@ (\d+) (\d+)$/gm)].map(([, , code]) => Number(code));
  expect(codes).toHaveLength(chosen.length);
  const wrong = chosen.flatMap((line, index) => {
    const expected = otherCodes[line] ?? 0;
    return codes[index] === expected ? [] : [`${line}: exit ${codes[index]}, not ${expected}`];
  });
  if (wrong.length > 0) process.stderr.write(stderr.slice(-8000));
  return wrong;
}

/**
 * Returns the lines as a script. `<run>` is replaced by the latest run. Confirmations are answered with yes; keys and scans
 * come from files.
 */
function script(lines: readonly string[]): string {
  const command = programCommand()
    .map((word) => `'${word}'`)
    .join(' ');
  const head = `petstock() { ${command} --yes "$@"; }; npx() { shift; petstock "$@"; };
    latest() { petstock history list --limit 1 -o tsv -q | cut -f1; }
    PETSTOCK_ENV=sandbox petstock inventory adjust 4 +1 -q > /dev/null
    petstock config set codes ../files/codes.csv -q > /dev/null`;
  const runs = lines.map((line, index) => {
    const shown = line
      .replaceAll('<your-store>', 'shop.example')
      .replaceAll('<run>', '$(latest)')
      // The sandbox has its own address and key, so these commands are run for staging.
      .replace(
        /^petstock config set(-url|-key| state-url)/,
        'PETSTOCK_CONFIG_DIR=$(mktemp -d) PETSTOCK_ENV=staging petstock config set$1',
      )
      .replaceAll(/\b20\d{6}T\d{6}Z-[a-z0-9]{4}\b|\bumlq\b/g, '$(latest)');
    // A file that the example writes is removed first, because petstock would not replace it.
    const written = /export (\S+\.csv)|--(?:failed-out|to) (\S+)/
      .exec(shown)
      ?.slice(1)
      .find((name) => name !== undefined);
    const absent = written === undefined ? '' : `rm -f ${written}; `;
    const input = line.includes('inventory count') ? 'scans.txt' : 'key.txt';
    return `echo '@@@ ${index}' >&2; cp ../files/* .; ${absent}( ${shown} ) < ${input}; echo; echo "@@ ${index} $?"`;
  });
  return [head, ...runs]
    .join('\n')
    .replaceAll('; echo; echo "@@', '; code=$?; echo; echo "@@')
    .replaceAll(' $?"', ' $code"');
}
