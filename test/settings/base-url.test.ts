import { expect, test } from 'vitest';
import { parseBaseUrl, serviceNameOf } from '../../src/settings/key-and-url.ts';
import fc, { anyText, property, propertyRuns } from '../support/properties.ts';

test.each([
  ['https://stock.example.com/v1', 'https://stock.example.com/v1'],
  ['https://stock.example.com/v1/', 'https://stock.example.com/v1'],
  ['HTTPS://Stock.EXAMPLE.com:443/v1', 'https://stock.example.com/v1'],
  ['https://example.com:8443/api/v1', 'https://example.com:8443/api/v1'],
  ['https://bücher.example/v1', 'https://xn--bcher-kva.example/v1'],
  ['http://127.0.0.1:4010/v1', 'http://127.0.0.1:4010/v1'],
  ['http://127.255.3.9/v1', 'http://127.255.3.9/v1'],
  ['http://127.1/v1', 'http://127.0.0.1/v1'],
  ['http://[::1]:4010/v1', 'http://[::1]:4010/v1'],
  ['http://LOCALHOST:4010/v1/', 'http://localhost:4010/v1'],
])('normalizes the URL %s to %s', (text, value) => expect(parseBaseUrl(text)).toEqual({ ok: true, value }));

const refused = (reason: RegExp, ...texts: readonly string[]) => texts.map((text) => [text, reason] as const);

test.each([
  ...refused(/use https/, 'http://stock.example.com/v1', 'http://127.0.0.1.evil.com/v1'),
  ...refused(/use https/, 'http://localhost.evil.com/v1', 'http://localhost./v1'),
  ...refused(/use https/, 'http://[::ffff:127.0.0.1]/v1', 'http://0.0.0.0/v1'),
  ...refused(/user name/, 'http://127.0.0.1@evil.com/v1', 'https://me:secret@example.com/v1', 'https://@evil.com/v1'),
  ...refused(/end in \/v1/, 'https://example.com', 'https://example.com/v2', 'https://example.com/V1'),
  ...refused(/end in \/v1/, 'https://example.com/xv1', 'https://example.com/%76%31', 'https://example.com/v1/pets'),
  ...refused(/end in \/v1|contains \/\//, 'https://example.com/v1//'),
  ...refused(/contains \/\//, 'https://example.com//v1'),
  ...refused(/query/, 'https://example.com/v1?', 'https://example.com/v1?key=a'),
  ...refused(/fragment/, 'https://example.com/v1#top'),
  ...refused(/backslash/, 'https:\\\\example.com\\v1'),
  ...refused(/white space/, 'https://example.com/a\tb/v1', ' https://example.com/v1', 'https://exam\nple.com/v1'),
  ...refused(/white space/, 'https://exa mple.com/v1'),
  ...refused(/begin with https/, 'https:example.com/v1', 'https:///example.com/v1'),
  ...refused(/begin with https/, 'ftp://example.com/v1', 'example.com/v1', ''),
  ...refused(/not a URL/, 'https://[::1/v1'),
])('refuses the URL %j: %s', (text, reason) => {
  expect(parseBaseUrl(text)).toEqual({ ok: false, problem: expect.stringMatching(reason) });
});

const evil = ['127.0.0.1.evil.com', 'localhost.evil.com', '127.0.0.1@evil.com'];
const address = fc.ipV6().map((text) => `[${text}]`);
const named = fc.constantFrom('localhost', 'LocalHost', '[::1]', ...evil);
const host = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV4Extended(), address, named);
const scheme = fc.constantFrom('http://', 'https://', 'HTTP://', 'http:\\\\', 'http:/');
const path = fc.constantFrom('/v1', '/v1/', '/a/v1', '\\v1', '/v1?', '');
const url = fc.tuple(scheme, host, path).map((parts) => parts.join(''));
/** Percent-encoded text. `fc.webUrl()` would spend half a second on a table of code points. */
const encoded = anyText({ maxLength: 10 }).map(encodeURI);
const more = fc.tuple(url, fc.constantFrom('/', '?', '#', '?a='), encoded).map((parts) => parts.join(''));
const text = fc.oneof(more, fc.string(), url);

property(
  'accepts only https or loopback URLs that end in /v1, and accepts its own result again',
  [text],
  propertyRuns(150),
  (candidate) => {
    const parsed = parseBaseUrl(candidate);
    if (!parsed.ok) return;
    const url = new URL(parsed.value);
    const loopback = ['localhost', '[::1]'].includes(url.hostname) || /^127(\.\d+){3}$/.test(url.hostname);
    expect(url.protocol === 'https:' || loopback).toBe(true);
    expect(parsed.value).toMatch(/\/v1$/);
    expect(url.username + url.password + url.search + url.hash).toBe('');
    expect(parseBaseUrl(parsed.value)).toEqual(parsed);
  },
);

const local = 'http://localhost:4010/v1';

test.each([
  ['https://Pets.Example/v1', 'https://pets.example/v1'],
  ['https://pets.example:443/v1/', 'https://pets.example/v1'],
  ['https://pets.example./v1', 'https://pets.example/v1'],
  ['https://pets.example:8443/v1', 'https://pets.example:8443/v1'],
  ...['127.0.0.1', '127.9.8.7', '127.1', '[::1]', '[::ffff:127.0.0.1]'].map((host) => [
    `http://${host}:4010/v1`,
    local,
  ]),
  ...['LOCALHOST.', 'shop.localhost'].map((host) => [`http://${host}:4010/v1`, local]),
  ['http://localhost.example/v1', 'http://localhost.example/v1'],
  ['http://[::ffff:128.0.0.1]/v1', 'http://[::ffff:8000:1]/v1'],
  ['https://localhost/a/v1', 'https://localhost/a/v1'],
  ['https://pets.example/%61/v1', 'https://pets.example/a/v1'],
  ['https://pets.example/a%2fb%e2/v1', 'https://pets.example/a%2Fb%E2/v1'],
  ['sandbox', 'sandbox'],
] as [string, string][])('derives the service name from %s: %s', (url, service) =>
  expect(serviceNameOf(url)).toBe(service),
);

const withPath = fc
  .tuple(fc.constantFrom('http://', 'https://'), host, fc.array(encoded, { maxLength: 3 }))
  .map(([scheme, host, path]) => [scheme + host, ...path].join('/'));

property('derives the same service name from a URL in upper case, and from the name itself', [withPath], (text) => {
  const service = serviceNameOf(text);
  expect(serviceNameOf(service)).toBe(service);
  const shouted = text.replace(/^(https?:\/\/)([^/]+)/, (_all, scheme, host) => scheme + host.toUpperCase());
  expect(serviceNameOf(shouted)).toBe(service);
});
