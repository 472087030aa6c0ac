import { expect } from 'vitest';
import { createUrlSplitter } from '../../src/api/undici.ts';
import { propertyRuns } from '../support/property-runs.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

const origin = fc.constantFrom(
  'http://127.0.0.1:4010',
  'http://127.0.0.1',
  'https://shop.example',
  'HTTPS://SHOP.example',
);
const piece = fc.constantFrom(
  ...'/v1 /inventory /7 /-7 /a.b /.. /%2e%2e /ä // ?x=/y #z :81 .evil @other'.split(' '),
  ' ',
);
const url = fc.tuple(origin, fc.array(piece, { maxLength: 5 })).map(([start, pieces]) => start + pieces.join(''));

property('a URL is split as URL does it', [fc.array(url, { maxLength: 8 })], propertyRuns(400), (urls) => {
  const split = createUrlSplitter();
  for (const text of urls.filter((one) => URL.canParse(one))) {
    const { origin: expected, pathname, search } = new URL(text);
    expect(split(text)).toEqual({ origin: expected, path: pathname + search });
  }
});
