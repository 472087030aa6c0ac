import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskDatabaseUrl, parseDatabaseUrl } from '../../src/shared/database-url.ts';

const read = (text: string) => {
  const parsed = parseDatabaseUrl(text);
  if (!parsed.ok) throw new Error(parsed.fault);
  return parsed.value;
};

describe('the URL of a database', () => {
  it('is read as libpq reads it', () => {
    expect(read('postgres://ann:p%40ss@db.example:6543/pets?sslmode=verify-full&connect_timeout=3')).toEqual({
      user: 'ann',
      password: 'p@ss',
      host: 'db.example',
      port: 6543,
      database: 'pets',
      tls: { mode: 'verify-full', authority: undefined, certificate: undefined, key: undefined },
      connectTimeout: 3,
      shown: 'postgres://ann:***@db.example:6543/pets?sslmode=verify-full&connect_timeout=3',
    });
    expect(read('postgresql:///pets?host=%2Frun%2Fpg')).toMatchObject({
      host: '/run/pg',
      database: 'pets',
      port: 5432,
    });
    expect(read('postgresql://ann@/pets?host=/run/pg')).toMatchObject({ host: '/run/pg', user: 'ann' });
    expect(read('postgresql://[::1]:5433/pets?sslmode=allow')).toMatchObject({ host: '::1', tls: { mode: 'prefer' } });
  });

  it.each([
    ['http://db.example/pets', 'must begin with'],
    ['postgresql://db.example/pets?sslmode=no-verify', 'sslmode must be one of'],
    ['postgresql://db.example/pets?sslmode=verify-ca', 'sslrootcert'],
    ['postgresql://db.example/pets?target_session_attrs=read-write', '"target_session_attrs" is not supported'],
    ['postgresql://db.example:99999/pets', 'not a URL'],
    ['postgresql://db.example/pets?port=0', 'the port'],
    ['postgresql://db.example/pets?connect_timeout=soon', 'connect_timeout'],
  ])('%s is refused', (text, fault) => {
    expect(parseDatabaseUrl(text)).toMatchObject({ ok: false, fault: expect.stringContaining(fault) });
  });

  it('never shows a password, nor a fault any of it', () => {
    const password = fc.string({ minLength: 6, maxLength: 20 }).map((text) => `Geheim${text}`);
    fc.assert(
      fc.property(password, fc.constantFrom('user', 'parameter'), (secret, place) => {
        const coded = encodeURIComponent(secret);
        const text =
          place === 'user' ? `postgresql://ann:${coded}@db/pets` : `postgresql://ann@db/pets?password=${coded}`;
        expect(maskDatabaseUrl(text)).not.toContain('Geheim');
        expect(read(text)).toMatchObject({ password: secret, shown: expect.not.stringContaining('Geheim') });
        const broken = parseDatabaseUrl(`${text.replace('@db/', '@db:x/')}`);
        expect(JSON.stringify(broken)).not.toContain('Geheim');
        expect(maskDatabaseUrl(`not a url ${secret}`)).toBe('***');
      }),
    );
  });
});
