import { expect, test } from 'vitest';
import { startService } from '../../src/service/index.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { authorityFile } from '../support/tls.ts';

test('TLS to the database: sslmode means what it means to psql', { timeout: 60_000 }, async () => {
  const { port } = await temporaryPostgres({ tcp: 'tls', access: ['hostssl all all 127.0.0.1/32 trust'] });
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
  expect(await by(`sslmode=verify-full&sslrootcert=${authorityFile}`)).toBe('served');
  expect(await by(`sslmode=verify-ca&sslrootcert=${authorityFile}`)).toBe('served');
  expect(await by('sslmode=verify-full')).toMatch(/certificate/);
  expect(await by('sslmode=require')).toBe('served');
  expect(await by('sslmode=disable')).toMatch(/no encryption/);
});
