import { describe, expect, test as plain } from 'vitest';
import { exitCodes, signalExitCodes } from '../../../src/shared/errors.ts';
import { changeFile, errorJson, test } from '../../support/shop.ts';

/** A command line for each exit code. One row of `FILE` is a conflict, the other is not. */
const seen: readonly (readonly [
  code: keyof typeof exitCodes,
  command: string,
  env?: Record<string, string | undefined>,
])[] = [
  ['ok', 'inventory list'],
  ['failure', 'config get max-zero'],
  ['usage', 'inventory set 4 1.5'],
  ['usage', 'inventory watch'],
  ['changes', 'inventory diff staging FILE --exit-code'],
  ['auth', 'inventory list', { PETSTOCK_API_KEY_STAGING: undefined }],
  ['auth', 'status', { PETSTOCK_API_KEY_STAGING: 'psk_0123456789abcdefghij' }],
  ['unavailable', 'inventory list --retries 0', { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' }],
  ['rate-limited', 'inventory list --max-wait 0'],
  ['conflict', 'inventory set 4 1 --expect 99'],
  ['partial', 'inventory apply FILE --yes'],
  ['not-found', 'inventory get 4242'],
  ['not-found', 'undo --last --yes'],
  ['rejected', 'api PATCH /inventory/4 --data {}'],
  ['interrupted', 'inventory list'],
];

const headings = async (shop: { run(command: string): Promise<{ stdout: string }> }) => {
  const { stdout } = await shop.run('help exit-codes');
  return [...stdout.matchAll(/^ *(\d+) {2}([a-z-]+)/gm)].map(([, code, name]) => [Number(code), name]);
};

test('lists every exit code with its name in help exit-codes', async ({ shop }) => {
  const ends = Object.values(signalExitCodes).map((code) => [code, 'interrupted']);
  const others = Object.entries(exitCodes).filter(([name]) => name !== 'interrupted');
  expect(await headings(shop)).toEqual([...others.map(([name, code]) => [code, name]), ...ends]);
});

plain('tests a command line for every exit code', () => {
  expect(new Set(seen.map(([name]) => name))).toEqual(new Set(Object.keys(exitCodes)));
});

test.for(seen)('exits with the code for %s: %s', async ([name, words, env], { shop }) => {
  const file = changeFile(shop, 'petId,quantity,expected\n4,50,\n5,9,77\n');
  if (name === 'rate-limited') shop.service.setFaults(['GET /inventory:first=9:status=429:retry-after=30']);
  // `inventory watch` has no JSON format, so `-o json` is its usage error.
  const isJson = words !== 'inventory watch';
  const command = `${words.replace('FILE', file)} ${isJson ? '--json' : '-o json'}`;
  const ctrlCAt = name === 'interrupted' ? () => true : undefined;
  const { stderr } = await shop.exits(command, exitCodes[name], [], { env, ctrlCAt });
  if (name === 'ok' || name === 'changes') return;
  expect(errorJson(stderr).error).toMatchObject({ kind: name, exitCode: exitCodes[name] });
});

const lists = ['inventory list', 'inventory get 4 5', 'inventory export', 'inventory diff staging FILE', 'orders list'];

describe('output before the first row', () => {
  test.for(lists.flatMap((command) => ['json', 'ndjson', 'csv', 'tsv'].map((format) => [command, format] as const)))(
    '%s -o %s prints nothing on stdout if the service fails',
    async ([command, format], { shop }) => {
      shop.service.setFaults(['GET *:first=9:status=503']);
      const file = changeFile(shop, 'petId,quantity\n4,50\n');
      const words = `${command.replace('FILE', file)} -o ${format} --header --retries 1`;
      expect((await shop.exits(words, exitCodes.unavailable)).stdout).toBe('');
    },
  );
});

test('resends a GET after a 500 or a 502', async ({ shop }) => {
  for (const status of [500, 502]) {
    shop.service.setFaults([`GET /inventory:first=2:status=${status}`]);
    expect((await shop.exits('inventory get 4', 0)).sent).toEqual(Array(3).fill('GET /v1/inventory'));
  }
});

test.for(['inventory set 4 12 --read-first', 'inventory adjust 4 +1', 'inventory count --yes', 'api GET /inventory'])(
  'reports that nothing was written if %s is interrupted while it reads',
  async (command, { shop }) => {
    shop.service.setFaults(['GET /inventory:hang']);
    const said = /Error: Interrupted\. Nothing was written\.\n/;
    await shop.exits(command, 130, said, { stdin: '4\n', ctrlCAt: () => true });
  },
);
