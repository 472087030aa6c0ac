import { describe, expect, test } from 'vitest';
import { parseBaseUrl } from '../../src/settings/key-and-url.ts';
import { propertyRuns } from '../support/property-runs.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

const accepted: readonly [string, string][] = [
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
];

test.each(accepted)('%s is %s', (text, value) => {
  expect(parseBaseUrl(text)).toEqual({ ok: true, value });
});

const refused: readonly [string, RegExp][] = [
  ['http://stock.example.com/v1', /use https/],
  ['http://127.0.0.1.evil.com/v1', /use https/],
  ['http://localhost.evil.com/v1', /use https/],
  ['http://localhost./v1', /use https/],
  ['http://[::ffff:127.0.0.1]/v1', /use https/],
  ['http://0.0.0.0/v1', /use https/],
  ['http://127.0.0.1@evil.com/v1', /user name/],
  ['https://me:secret@example.com/v1', /user name/],
  ['https://@example.com/v1', /user name/],
  ['https://example.com', /end in \/v1/],
  ['https://example.com/v2', /end in \/v1/],
  ['https://example.com/V1', /end in \/v1/],
  ['https://example.com/xv1', /end in \/v1/],
  ['https://example.com/%76%31', /end in \/v1/],
  ['https://example.com/v1/inventory', /end in \/v1/],
  ['https://example.com//v1', /contains \/\//],
  ['https://example.com/v1//', /end in \/v1|contains \/\//],
  ['https://example.com/v1?', /query/],
  ['https://example.com/v1?key=a', /query/],
  ['https://example.com/v1#top', /fragment/],
  ['https:\\\\example.com\\v1', /backslash/],
  ['https://example.com/a\tb/v1', /white space/],
  [' https://example.com/v1', /white space/],
  ['https://exam\nple.com/v1', /white space/],
  ['https:example.com/v1', /begin with https/],
  ['https:///example.com/v1', /begin with https/],
  ['ftp://example.com/v1', /begin with https/],
  ['example.com/v1', /begin with https/],
  ['https://exa mple.com/v1', /white space/],
  ['https://[::1/v1', /not a URL/],
  ['', /begin with https/],
];

test.each(refused)('%j is refused', (text, reason) => {
  const parsed = parseBaseUrl(text);
  expect(parsed).toEqual({ ok: false, fault: expect.stringMatching(reason) });
});

describe('whatever is accepted', () => {
  const host = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.ipV4Extended(),
    fc.ipV6().map((address) => `[${address}]`),
    fc.constantFrom(
      'localhost',
      'LocalHost',
      '127.0.0.1.evil.com',
      'localhost.evil.com',
      '127.0.0.1@evil.com',
      '[::1]',
    ),
  );
  const text = fc.oneof(
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.string(),
    fc
      .tuple(
        fc.constantFrom('http://', 'https://', 'HTTP://', 'http:\\\\', 'http:/'),
        host,
        fc.constantFrom('/v1', '/v1/', '/a/v1', '\\v1', '/v1?', ''),
      )
      .map((parts) => parts.join('')),
  );

  property('is https or loopback, ends in /v1, and is accepted again', [text], propertyRuns(400), (candidate) => {
    const parsed = parseBaseUrl(candidate);
    if (!parsed.ok) return;
    const url = new URL(parsed.value);
    const loopback = ['localhost', '[::1]'].includes(url.hostname) || /^127(\.\d+){3}$/.test(url.hostname);
    expect(url.protocol === 'https:' || loopback).toBe(true);
    expect(parsed.value).toMatch(/\/v1$/);
    expect(url.username + url.password + url.search + url.hash).toBe('');
    expect(parseBaseUrl(parsed.value)).toEqual(parsed);
  });
});
