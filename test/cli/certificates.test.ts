import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { CertificateError } from '../../src/shared/errors.ts';
import { classifyFailure } from '../../src/writes/classify-failure.ts';
import { newFolder } from '../support/new-folder.ts';
import { openShop, test } from '../support/shop.ts';
import { authorityFile, openTlsFront } from '../support/tls.ts';

async function openTlsShop() {
  const shop = await openShop();
  const front = await openTlsFront(shop.service.url);
  return { shop, front, env: { PETSTOCK_URL_STAGING: `https://127.0.0.1:${front.port}/v1` } };
}

function temporaryFile(text: string): string {
  const file = join(newFolder(), 'ca.pem');
  writeFileSync(file, text);
  return file;
}

describe('a certificate that is not trusted', () => {
  test.each(['inventory list', 'inventory set 1 5', 'status'])(
    '%s: fails at once, and says what helps',
    async (command) => {
      const { shop, front, env } = await openTlsShop();
      const result = await shop.run(command, { env });
      expect(result).toMatchObject({ code: 5 });
      expect(result.requests.length).toBe(1);
      expect(front.connections()).toBe(1);
      expect(result.stderr).toContain('is not trusted');
      expect(result.stderr).toContain('Nothing was sent to it');
      expect(result.stderr).toMatch(/^Hint: petstock config set ca-file '<file with/m);
    },
  );

  test('ends a bulk run too', async () => {
    const { shop, env } = await openTlsShop();
    const result = await shop.run('inventory apply - --yes', { env, stdin: 'petId,quantity\n1,5\n2,6\n' });
    expect(result).toMatchObject({ code: 5 });
    expect(result.requests.length).toBe(1);
  });

  test('stops the rows that come after one', () => {
    const failure = classifyFailure(new CertificateError('not trusted', { unsent: true }));
    expect(failure).toEqual({ kind: 'notSent', stop: true, mayStillArrive: false, isReadable: false });
  });
});

describe('ca-file', () => {
  test('adds an authority', async () => {
    const { shop, env } = await openTlsShop();
    const set = await shop.run(['config', 'set', 'ca-file', authorityFile]);
    expect(set).toMatchObject({ code: 0, stderr: expect.stringContaining(`Set ca-file to ${authorityFile} in`) });
    expect(await shop.run('inventory get 1', { env })).toMatchObject({ code: 0 });
    expect(await shop.run('inventory set 1 5', { env })).toMatchObject({ code: 0 });
  });

  test.each([
    ['nothing like it', 'key=psk_0123456789', 'there is no certificate in PEM in it'],
    ['damaged', '-----BEGIN CERTIFICATE-----\nabcd\n-----END CERTIFICATE-----', 'certificate 1 in it is damaged'],
  ])('%s is refused', async (_name, text, words) => {
    const { shop } = await openTlsShop();
    const refused = await shop.run(['config', 'set', 'ca-file', temporaryFile(text)]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
    expect(refused.stderr).not.toContain('psk_');
    expect((await shop.run('config get ca-file')).stdout).toBe('');
  });

  test.each([
    ...(existsSync('/dev/zero') ? [['/dev/zero', 'it is not a file']] : []),
    [tmpdir(), 'it is a folder'],
    ['/nowhere.pem', 'there is no such file'],
  ])('%s is refused, and not read', async (file, words) => {
    const { shop } = await openTlsShop();
    const refused = await shop.run(['config', 'set', 'ca-file', file]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
    expect(refused.stderr).not.toMatch(/E[A-Z]{4,}/);
  });

  test('that has gone is named before anything is sent', async () => {
    const { shop, env } = await openTlsShop();
    expect(await shop.run(['config', 'set', 'ca-file', '/nowhere/ca.pem'])).toMatchObject({ code: 2 });
    const file = temporaryFile('');
    writeFileSync(file, await import('node:fs').then(({ readFileSync }) => readFileSync(authorityFile)));
    await shop.run(['config', 'set', 'ca-file', file]);
    rmSync(file);
    const result = await shop.run('inventory list', { env });
    expect(result).toMatchObject({ code: 2, requests: [], stderr: expect.stringContaining(file) });
  });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' };

  test.for(['inventory set 1 5', 'inventory adjust 1 +1', 'api PATCH /inventory/1 --data {"quantity":1}'])(
    'refuses %s',
    async (command, { shop }) => {
      expect(await shop.refused(command, { env })).toContain(
        'NODE_TLS_REJECT_UNAUTHORIZED=0 switches off the check of certificates',
      );
    },
  );

  test.for(['inventory list', 'inventory get 1 -q', 'api GET /inventory/1 -q'])(
    'warns about %s',
    async (command, { shop }) => {
      const result = await shop.run(command, { env });
      expect(result.requests.length).toBe(1);
      expect(result.stderr).toContain('Warning: NODE_TLS_REJECT_UNAUTHORIZED=0 switches off the check of certificates');
    },
  );

  test('1 is what Node does anyway', async ({ shop }) => {
    const result = await shop.run('inventory set 1 5', { env: { NODE_TLS_REJECT_UNAUTHORIZED: '1' } });
    expect(result).toMatchObject({ code: 0, stderr: expect.not.stringContaining('NODE_TLS') });
  });
});
