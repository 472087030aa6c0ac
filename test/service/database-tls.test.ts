import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startService } from '../../src/service/index.ts';
import { temporaryPostgres } from '../support/postgres.ts';

const certificates = join(import.meta.dirname, '../support/certificates');

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('TLS to the database: sslmode means what it means to psql', { timeout: 60_000 }, async () => {
  const port = await freePort();
  const file = (name: string) => readFileSync(join(certificates, name), 'utf8');
  await temporaryPostgres({
    settings: ["listen_addresses = '127.0.0.1'", `port = ${port}`, 'ssl = on'],
    access: ['hostssl all all 127.0.0.1/32 trust'],
    files: { 'server.crt': file('server.pem'), 'server.key': file('server-key.pem') },
  });
  const by = async (parameters: string) => {
    const database = `postgresql://postgres@127.0.0.1:${port}/postgres?${parameters}`;
    try {
      const service = await startService({ database, clock: Date });
      await service.close();
      return 'served';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const authority = join(certificates, 'authority.pem');
  expect(await by(`sslmode=verify-full&sslrootcert=${authority}`)).toBe('served');
  expect(await by(`sslmode=verify-ca&sslrootcert=${authority}`)).toBe('served');
  expect(await by('sslmode=verify-full')).toMatch(/certificate/);
  expect(await by('sslmode=require')).toBe('served');
  expect(await by('sslmode=disable')).toMatch(/no encryption/);
});
