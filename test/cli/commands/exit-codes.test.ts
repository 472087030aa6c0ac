import { expect, test as plain } from 'vitest';
import { exitCodes, signalExitCodes } from '../../../src/shared/errors.ts';
import { changeFile, errorJson, test } from '../../support/shop.ts';

interface Place {
  readonly env?: Record<string, string | undefined>;
  /** A fault of the service. */
  readonly fault?: string;
}

const noKey = { env: { PETSTOCK_API_KEY_STAGING: undefined } };
const wrongKey = { env: { PETSTOCK_API_KEY_STAGING: 'psk_0123456789abcdefghij' } };
const down = { env: { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' } };

/** Command lines for each exit code. One row of `FILE` is a conflict, the other is not. */
const seen: readonly (readonly [code: keyof typeof exitCodes, command: string, place?: Place])[] = [
  ['ok', 'inventory list'],
  ['ok', 'inventory'],
  ['failure', 'config get max-zero'],
  ['failure', 'inventory list', { fault: '*:malform' }],
  ['usage', 'inventory set 4 1.5'],
  ['usage', 'inventory lst'],
  ['usage', 'inventory list --env nowhere'],
  ['changes', 'inventory diff staging FILE --exit-code'],
  ['auth', 'inventory list', noKey],
  ['auth', 'status', wrongKey],
  ['auth', 'inventory list', { fault: '*:status=401' }],
  ['unavailable', 'inventory list --retries 0', down],
  ['unavailable', 'inventory list', { fault: '*:status=500' }],
  ['unavailable', 'api POST /inventory', { fault: '*:hang' }],
  ['rate-limited', 'inventory list', { fault: 'GET /inventory:first=9:status=429:retry-after=3000' }],
  ['conflict', 'inventory set 4 1 --expect 99'],
  ['partial', 'inventory apply FILE --yes'],
  ['not-found', 'inventory get 4242'],
  ['not-found', 'inventory set 4242 5'],
  ['not-found', 'undo --last --yes'],
  ['not-found', 'history show latest'],
  ['rejected', 'api PATCH /inventory/4 --data {}'],
  ['rejected', 'inventory set 1 5', { fault: '*:status=400' }],
  ['rejected', 'inventory list', { fault: '*:status=403' }],
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

test.for(seen)('exits with the code for %s: %s %o', async ([name, words, place = {}], { shop }) => {
  const { env, fault = '' } = place;
  const file = changeFile(shop, 'petId,quantity,expected\n4,50,\n5,9,77\n');
  if (fault !== '') shop.service.setFaults([fault]);
  const ctrlCAt = name === 'interrupted' ? () => true : undefined;
  // Lets a request that hangs time out.
  const onSent = () => void (fault.endsWith(':hang') && setImmediate(() => shop.clock.expireDeadlines()));
  const exits = (options: string) =>
    shop.exits(words.replace('FILE', file) + options, exitCodes[name], [], { env, ctrlCAt, onSent });
  const { stdout, stderr } = await exits(' --json');
  expect(stderr).not.toMatch(/defect|^ {4}at /m);
  if (name === 'ok' || name === 'changes') return expect(stderr).not.toContain('"error":');
  const { error } = errorJson(stderr);
  expect(error).toMatchObject({ kind: name, exitCode: exitCodes[name] });
  expect([error.code, error.message]).toEqual([expect.any(String), expect.any(String)]);
  if (name === 'partial') return expect(JSON.parse(stdout)).toMatchObject({ run: error.run, counts: { applied: 1 } });
  if (!words.startsWith('status')) expect(stdout).toBe('');
  return expect((await exits('')).stderr).toMatch(/^Error: .+$/m);
});

test.for([
  'inventory list',
  'inventory list --sort quantity',
  'inventory list --summary',
  'inventory get 4 5',
  'inventory export',
  'inventory diff staging FILE',
  'orders list',
])('%s prints nothing on stdout in any format if the service fails', async (command, { shop }) => {
  shop.service.setFaults(['GET *:status=503']);
  const file = changeFile(shop, 'petId,quantity\n4,50\n');
  const words = `${command.replace('FILE', file)} --header --retries 0 -o`;
  for (const format of ['json', 'ndjson', 'csv', 'tsv'])
    expect((await shop.exits(`${words} ${format}`, exitCodes.unavailable)).stdout).toBe('');
});

test.for(['inventory set 4 12 --read-first', 'inventory adjust 4 +1', 'inventory count --yes', 'api GET /inventory'])(
  'reports that nothing was written if %s is interrupted while it reads',
  async (command, { shop }) => {
    shop.service.setFaults(['GET /inventory:hang']);
    const said = /Error: Interrupted\. Nothing was written\.\n/;
    await shop.exits(command, 130, said, { stdin: '4\n', ctrlCAt: () => true });
  },
);
