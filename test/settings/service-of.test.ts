import { describe, expect, it } from 'vitest';
import { serviceOf } from '../../src/settings/key-and-url.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

describe('serviceOf', () => {
  it.each([
    ['https://Pets.Example/v1', 'https://pets.example/v1'],
    ['https://pets.example:443/v1/', 'https://pets.example/v1'],
    ['https://pets.example./v1', 'https://pets.example/v1'],
    ['https://pets.example:8443/v1', 'https://pets.example:8443/v1'],
    ['http://127.0.0.1:4010/v1', 'http://localhost:4010/v1'],
    ['http://127.9.8.7:4010/v1', 'http://localhost:4010/v1'],
    ['http://127.1:4010/v1', 'http://localhost:4010/v1'],
    ['http://[::1]:4010/v1', 'http://localhost:4010/v1'],
    ['http://[::ffff:127.0.0.1]:4010/v1', 'http://localhost:4010/v1'],
    ['http://LOCALHOST.:4010/v1', 'http://localhost:4010/v1'],
    ['http://shop.localhost:4010/v1', 'http://localhost:4010/v1'],
    ['http://localhost.example/v1', 'http://localhost.example/v1'],
    ['http://[::ffff:128.0.0.1]/v1', 'http://[::ffff:8000:1]/v1'],
    ['https://localhost/a/v1', 'https://localhost/a/v1'],
    ['https://pets.example/%61/v1', 'https://pets.example/a/v1'],
    ['https://pets.example/a%2fb%e2/v1', 'https://pets.example/a%2Fb%E2/v1'],
    ['sandbox', 'sandbox'],
  ])('%s is %s', (url, service) => {
    expect(serviceOf(url)).toBe(service);
  });

  const url = fc.webUrl({ validSchemes: ['http', 'https'] });

  property('has one name for a service, which is its own', [url], (text) => {
    const service = serviceOf(text);
    expect(serviceOf(service)).toBe(service);
    expect(serviceOf(text.replace(/^(https?:\/\/)([^/]+)/, (_all, scheme, host) => scheme + host.toUpperCase()))).toBe(
      service,
    );
  });

  const ports = fc.integer({ min: 1024, max: 65_535 });

  property(
    'keeps apart what differs in scheme, port or path',
    [ports, ports, fc.constantFrom('127.0.0.1', '[::1]', 'localhost', 'a.localhost')],
    (one, other, host) => {
      const [left, right] = [`http://localhost:${one}/v1`, `http://${host}:${other}/v1`];
      expect(serviceOf(left) === serviceOf(right)).toBe(one === other);
      expect(serviceOf(`https://${host}:${one}/v1`)).not.toBe(serviceOf(left));
    },
  );
});
