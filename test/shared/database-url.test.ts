import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { maskDatabaseUrl, parseDatabaseUrl, withAbsoluteFiles } from '../../src/shared/database-url.ts';
import { driverOptions, mayGoWithout, serversOf, tlsOptions } from '../../src/state/postgres-session.ts';
import { newFolder } from '../support/new-folder.ts';
import fc, { property } from '../support/properties.ts';

const read = (text: string) => {
  const parsed = parseDatabaseUrl(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.value;
};

it.each([
  ['prefer', false, false],
  ['require', false, false],
  ['verify-ca', true, false],
  ['verify-full', true, true],
] as const)(
  'decides for sslmode %s whether to verify the certificate (%s) and the name in it (%s)',
  (mode, certificate, name) => {
    const { tls, ...rest } = read('postgres://db.example/pets');
    const options = tlsOptions({ ...rest, host: 'db.example', port: 5432, tls: { ...tls, mode } });
    if (options === false) throw new Error('no TLS');
    expect([options.rejectUnauthorized, options.checkServerIdentity === undefined]).toEqual([certificate, name]);
  },
);

it.each([
  ['prefer', false, undefined],
  ['require', true, 'authority'],
  ['verify-ca', true, 'authority'],
] as const)(
  'decides for sslmode %s whether to verify the certificate by the named authority: %s',
  (mode, isVerified, ca) => {
    const authority = join(newFolder(), 'ca.pem');
    writeFileSync(authority, 'authority', { mode: 0o600 });
    const { tls, ...rest } = read('postgres://db.example/pets');
    const options = tlsOptions({ ...rest, host: 'db.example', port: 5432, tls: { ...tls, mode, authority } });
    expect(options && [options.ca, options.rejectUnauthorized]).toEqual([ca, isVerified]);
  },
);

it.each([
  ['postgres://db.example', {}, 3000],
  ['postgres://ann:x@db.example/pets?connect_timeout=2', { user: 'ann', database: 'pets', password: 'x' }, 2000],
])('passes the parts of %s to the driver, with defaults for the rest', (text, named, connectionTimeoutMillis) => {
  const [server] = serversOf(read(text));
  if (server === undefined) throw new Error('no server');
  const common = { host: 'db.example', port: 5432, password: '', ssl: false, keepAlive: true };
  expect(driverOptions(server, false, 3000)).toEqual({ ...common, ...named, connectionTimeoutMillis });
});

it.each([
  ['prefer', new Error('The server does not support SSL connections'), true],
  ['require', new Error('The server does not support SSL connections'), false],
  ['prefer', new Error('connection refused'), false],
  ['prefer', 'does not support SSL', false],
] as const)('decides for sslmode %s whether to continue without TLS after %s: %s', (mode, error, isAllowed) => {
  const [server] = serversOf(read(`postgres://db.example/pets?sslmode=${mode}`));
  expect(server && mayGoWithout(server, error)).toBe(isAllowed);
});

it.each([
  [' postgres://ann:x@db/pets ', 'postgres://ann:***@db/pets'],
  [' postgres://ann:x@db,other/pets\n', 'postgres://ann:***@db,other/pets'],
  ['postgres://db/pets?password=x', 'postgres://db/pets?password=***'],
  ['postgres:///pets', 'postgres:///pets'],
])('masks the password of %j', (text, masked) => expect(maskDatabaseUrl(text)).toBe(masked));

describe('parseDatabaseUrl', () => {
  it('reads a database URL like libpq', () => {
    expect(read('postgres://ann:p%40ss@db.example:6543/pets?sslmode=verify-full&connect_timeout=3')).toEqual({
      user: 'ann',
      password: 'p@ss',
      hosts: [{ host: 'db.example', port: 6543 }],
      database: 'pets',
      tls: { mode: 'verify-full', authority: undefined, certificate: undefined, key: undefined },
      connectTimeout: 3,
      shown: 'postgres://ann:***@db.example:6543/pets?sslmode=verify-full&connect_timeout=3',
    });
    const socket = { hosts: [{ host: '/run/pg', port: 5432 }] };
    expect(read('postgresql:///pets?host=%2Frun%2Fpg')).toMatchObject({ ...socket, database: 'pets' });
    expect(read('postgresql://db/pets?user=ann@pets&password=a+b')).toMatchObject({
      user: 'ann@pets',
      password: 'a+b',
    });
    expect(read('postgresql://ann@/pets?host=/run/pg')).toMatchObject({ ...socket, user: 'ann' });
    const six = { hosts: [{ host: '::1', port: 5433 }], tls: { mode: 'prefer' } };
    expect(read('postgresql://[::1]:5433/pets?sslmode=allow')).toMatchObject(six);
  });

  it.each([
    ['postgres://db.example/pets', 'verify-full'],
    ['postgres://localhost,db.example/pets', 'verify-full'],
    ['postgres://127.0.0.1.example/pets', 'verify-full'],
    ['postgres://localhost.example/pets', 'verify-full'],
    ['postgres://db.localhost/pets', 'verify-full'],
    ['postgres://[::1234]/pets', 'verify-full'],
    ['postgres://127.10.0.200/pets', 'prefer'],
    ['postgres://db.example/pets?sslmode=prefer', 'prefer'],
    ['postgres://127.0.0.1,[::1],localhost/pets', 'prefer'],
    ['postgresql:///pets?host=/run/pg', 'prefer'],
  ])('reads the sslmode of %s as %s', (url, mode) => {
    expect(read(url).tls.mode).toBe(mode);
  });

  it.each([
    ['postgres://ann:pw@a,b:6543/pets?target_session_attrs=read-write', ['a:5432', 'b:6543']],
    ['postgresql://a:1,[::1]:2,c/pets', ['a:1', '::1:2', 'c:5432']],
    ['postgresql://ann@/pets?host=/run/a,/run/b', ['/run/a:5432', '/run/b:5432']],
    ['postgresql:///pets?host=a,b&port=1,2', ['a:1', 'b:2']],
    ['postgresql:///pets?host=a,b&port=6543', ['a:6543', 'b:6543']],
    ['postgresql://a:1,b:2/pets?host=c,d', ['c:1', 'd:1']],
    ['postgresql://:6543/pets', ['localhost:6543']],
  ])('reads every host of %s, and masks its password', (text, hosts) => {
    expect(read(text).hosts.map(({ host, port }) => `${host}:${port}`)).toEqual(hosts);
    expect(maskDatabaseUrl(text)).toBe(text.replace(':pw@', ':***@'));
  });

  it.each([
    ['http://db.example/pets', 'must begin with'],
    ['postgresql://db.example/pets?sslmode=no-verify', 'sslmode must be one of'],
    ['postgresql://db.example/pets?sslmode=verify-ca', 'sslrootcert'],
    ['postgresql://db.example/pets?target_session_attrs=standby', 'target_session_attrs must be'],
    ['postgresql://db.example/pets?options=-c', '"options" is not supported'],
    ['postgresql://a,b:x/pets', 'not a URL'],
    ['postgresql:///pets?host=a,b,c&port=1,2', 'one port, or one for each host'],
    ['postgresql://db.example:99999/pets', 'not a URL'],
    ['postgresql://db.example/pets?port=0', 'the port'],
    ['postgresql:///pets?host=a,b&port=1,65536', 'the port'],
    ['postgresql://ann:1/Geheim@db.example/pets', 'not a URL'],
    ['postgresql://ann:1?geheim@db.example/pets', 'not a URL'],
    ['postgresql://ann:1#geheim@db.example/pets', 'not a URL'],
    ['postgresql://a,b:1/Geheim@db.example/pets', 'not a URL'],
    ['postgresql://db.example/pets?connect_timeout=soon', 'connect_timeout'],
    ['postgresql://db.example/pets?connect_timeout=10s', 'connect_timeout'],
  ])('refuses the database URL %s', (text, fault) => {
    expect(parseDatabaseUrl(text)).toMatchObject({ ok: false, problem: expect.stringContaining(fault) });
    expect(maskDatabaseUrl(text)).not.toMatch(/geheim/i);
  });

  it('keeps every character of a file name in a database URL', () => {
    const url = withAbsoluteFiles('postgresql://db.example/pets?sslrootcert=/a+b%20c.pem&sslmode=verify-full');
    expect(read(url).tls.authority).toBe('/a+b c.pem');
  });

  it.each([
    'postgresql://db.example/pets?application_name=tills',
    'postgresql://db.example/pets?sslmode=&sslrootcert=',
    'postgresql://db.example/pets?sslrootcert=system',
  ])('requires verified TLS for %s', (text) => {
    expect(read(text)).toMatchObject({ tls: { mode: 'verify-full' }, hosts: [{ host: 'db.example', port: 5432 }] });
  });

  it.each([
    ['channel_binding=require', 'channel_binding'],
    ['require_auth=scram-sha-256', 'require_auth'],
    ['SSLMODE=disable', 'SSLMODE'],
    ['sslmode=Disable', 'sslmode'],
    ['sslmode=verify-full&sslmode=disable', 'sslmode'],
    ['host=db.example&host=mallory.example', 'host'],
    ['ssl=true', 'ssl'],
    ['sslrootcert=system&sslmode=require', 'sslrootcert'],
    ['connect_timeout=0', 'connect_timeout'],
    ['connect_timeout=x10', 'connect_timeout'],
    ['hostaddr=10.0.0.7', 'hostaddr'],
    ['ssl%20mode=disable', 'ssl mode'],
    ['sslpassword=Geheim', 'sslpassword'],
    ['constructor=1', 'constructor'],
  ])('refuses %s, and names the parameter', (parameters, name) => {
    const parsed = parseDatabaseUrl(`postgresql://db.example/pets?${parameters}`);
    expect(parsed).toMatchObject({ ok: false, problem: expect.stringContaining(name) });
    expect(JSON.stringify(parsed)).not.toContain('Geheim');
  });

  it('refuses white space in a database URL', () => {
    const text = 'postgresql://db.example/pets?ssl\tmode=disable';
    expect(parseDatabaseUrl(text)).toMatchObject({ ok: false, problem: expect.stringContaining('contains a space') });
  });

  const password = fc.string({ minLength: 6, maxLength: 20 }).map((text) => `Geheim${text}`);

  property(
    'hides every part of a password, even in an invalid database URL',
    [password, fc.constantFrom('user', 'parameter'), fc.constantFrom('db', 'db,other:5432')],
    (secret, place, hosts) => {
      const coded = encodeURIComponent(secret);
      const inQuery = `postgresql://ann@${hosts}/pets?password=${coded}`;
      const text = place === 'user' ? `postgresql://ann:${coded}@${hosts}/pets` : inQuery;
      expect(maskDatabaseUrl(text)).not.toContain('Geheim');
      expect(read(text)).toMatchObject({ password: secret, shown: expect.not.stringContaining('Geheim') });
      const broken = parseDatabaseUrl(`${text.replace(`@${hosts}/`, `@${hosts}:x/`)}`);
      expect(JSON.stringify(broken)).not.toContain('Geheim');
      // The password contains a comma and a slash that are not percent-encoded.
      expect(maskDatabaseUrl(`postgresql://ann:1,Geheim/${coded}@${hosts}/pets`)).not.toContain('Geheim');
      expect(maskDatabaseUrl(`not a url ${secret}`)).toBe('***');
    },
  );
});
