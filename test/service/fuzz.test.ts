import { expect, test } from 'vitest';
import fc from '../support/seeded-fast-check.ts';
import { rate, start, temporaryFile } from './support.ts';

const segment = fc.oneof(
  fc.constantFrom('inventory', 'pets', 'store', 'orders', '', '.', '..', '%2F', '%00', '%zz', 'v1', '1', '-1'),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
  fc.string({ unit: fc.constantFrom(...'abc019._~!$&()*+,;=:@%-') }),
);
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
const target = fc.oneof(path, fc.constantFrom('/inventory', '/inventory/1', '/pets/1', '/store/orders'));
const body = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json().map((text) => Buffer.from(text)),
  fc.jsonValue().map((value) => Buffer.from(`{"quantity":${JSON.stringify(value)}}`)),
);
const request = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'DELETE', 'PROPFIND'),
  target,
  body,
  type: fc.constantFrom('application/json', 'application/json;charset=utf-8', 'text/plain', ';', ''),
});

test('whatever is asked is answered, with the headers of all, and never with a failure of the service', async () => {
  const service = await start({ file: temporaryFile(), limits: { minute: 10n ** 9n, day: 10n ** 9n } });
  const property = fc.asyncProperty(request, async ({ method, target: asked, body: bytes, type }) => {
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const headers = { 'Content-Type': type, ...(hasBody ? { 'Content-Length': String(bytes.length) } : {}) };
    const answer = await service.call(method, asked, { headers, ...(hasBody ? { body: bytes } : {}) });
    expect(rate(answer)).toMatch(/^1000000000\/\d+\/\d+$/);
    expect(answer.headers['x-request-id']).toBeDefined();
    expect([200, 204, 400, 404, 405, 413, 415, 501]).toContain(answer.status);
    const isError = answer.status >= 400 && method !== 'HEAD';
    if (isError)
      expect(answer.json).toEqual({ code: expect.any(String), message: expect.any(String), status: answer.status });
  });
  await fc.assert(property, { numRuns: 100 });
  expect((await service.get('/inventory')).json).toHaveLength(24);
});
