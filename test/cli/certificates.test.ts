import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { CertificateError } from '../../src/shared/errors.ts';
import { classifyFailure } from '../../src/writes/classify-failure.ts';
import { newFolder } from '../support/new-folder.ts';
import { openShop, test, withEnv } from '../support/shop.ts';
import { authorityFile, openTlsFront } from '../support/tls.ts';

async function openTlsShop() {
  const shop = await openShop();
  const { port, connections } = await openTlsFront(shop.service.url);
  return { shop: withEnv(shop, { PETSTOCK_URL_STAGING: `https://127.0.0.1:${port}/v1` }), connections };
}

test.each(['inventory list', 'inventory set 1 5', 'status', 'inventory apply - --yes'])(
  'a certificate that is not trusted: %s fails at once, and says what helps',
  async (command) => {
    const { shop, connections } = await openTlsShop();
    const said = ['is not trusted', 'Nothing was sent to it', /^Hint: petstock config set ca-file '<file with/m];
    const { requests } = await shop.exits(command, 5, said, { stdin: 'petId,quantity\n1,5\n2,6\n' });
    expect([requests.length, connections()]).toEqual([1, 1]);
  },
);

test('a certificate that is not trusted stops the rows that come after one', () => {
  const failure = classifyFailure(new CertificateError('not trusted', { unsent: true }));
  expect(failure).toEqual({ kind: 'notSent', stop: true, mayStillArrive: false, isReadable: false });
});

test('ca-file adds an authority; once it has gone that is named before anything is sent', async () => {
  const { shop } = await openTlsShop();
  const file = join(newFolder(), 'ca.pem');
  copyFileSync(authorityFile, file);
  await shop.exits(['config', 'set', 'ca-file', file], 0, `Set ca-file to ${file} in`);
  for (const command of ['inventory get 1', 'inventory set 1 5']) await shop.exits(command, 0);
  rmSync(file);
  expect(await shop.refused('inventory list')).toContain(file);
});

test.for([
  ['ca.pem', 'key=psk_0123456789', 'there is no certificate in PEM in it'],
  ['ca.pem', '-----BEGIN CERTIFICATE-----\nabcd\n-----END CERTIFICATE-----', 'certificate 1 in it is damaged'],
  ...(existsSync('/dev/zero') ? [['/dev/zero', '', 'it is not a file']] : []),
  [tmpdir(), '', 'it is a folder'],
  ['/nowhere.pem', '', 'there is no such file'],
])('ca-file %s is refused: %j', async ([file = '', text = '', words], { shop }) => {
  const named = file === 'ca.pem' ? join(newFolder(), file) : file;
  if (file === 'ca.pem') writeFileSync(named, text);
  const stderr = await shop.refused(['config', 'set', 'ca-file', named]);
  expect(stderr).toContain(words);
  expect(stderr).not.toMatch(/psk_|\bE[A-Z]{4,}/);
  expect((await shop.run('config get ca-file')).stdout).toBe('');
});

const unchecked = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' };
const switchedOff = 'NODE_TLS_REJECT_UNAUTHORIZED=0 switches off the check of certificates';

test.for(['inventory set 1 5', 'inventory adjust 1 +1', 'api PATCH /inventory/1 --data {"quantity":1}'])(
  'NODE_TLS_REJECT_UNAUTHORIZED=0 refuses %s',
  async (command, { shop }) => {
    expect(await shop.refused(command, { env: unchecked })).toContain(switchedOff);
  },
);

test.for(['inventory list', 'inventory get 1 -q', 'api GET /inventory/1 -q'])(
  'NODE_TLS_REJECT_UNAUTHORIZED=0 warns about %s',
  async (command, { shop }) => {
    const { stderr, requests } = await shop.run(command, { env: unchecked });
    expect([requests.length, stderr.includes(`Warning: ${switchedOff}`)]).toEqual([1, true]);
  },
);

test('NODE_TLS_REJECT_UNAUTHORIZED=1 is what Node does anyway', async ({ shop }) => {
  const result = await shop.run('inventory set 1 5', { env: { NODE_TLS_REJECT_UNAUTHORIZED: '1' } });
  expect(result).toMatchObject({ code: 0, stderr: expect.not.stringContaining('NODE_TLS') });
});
