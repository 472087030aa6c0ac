import { describe, expect, test } from 'vitest';
import { openApiDocument } from '../../src/service/index.ts';
import { CASES } from './conformance-cases.ts';
import { useContract } from './contract.ts';
import { start } from './support.ts';

const contract = useContract();
/** That answers are as the document says, is shown by the conformance suite. */
describe('an answer that is not as the document says, is found out', () => {
  const good = async () => (await start()).get('/inventory');

  test.each([
    ['a header is missing', '*:without=X-RateLimit-Reset', /x-ratelimit-reset/],
    ['Retry-After is a date', 'GET /inventory:status=429:retry-after=soon', /retry-after/],
    ['401 asks for no key', 'GET /inventory:status=401', /www-authenticate/],
  ])('%s', async (_name, fault, expected) => {
    const answer = await (await start({ faults: [fault] })).get('/inventory');
    expect(await contract.breach('GET', '/inventory', answer)).toMatch(expected);
  });

  test.each([
    ['petId is a text', '[{"petId":"1","quantity":1,"status":"sold"}]', /petId/],
    ['quantity is a fraction', '[{"petId":1,"quantity":1.5,"status":"sold"}]', /quantity/],
    ['status is none', '[{"petId":1,"quantity":1,"status":"lost"}]', /status/],
    ['a field is missing', '[{"petId":1,"quantity":1}]', /status/],
  ])('%s', async (_name, text, expected) => {
    expect(await contract.breach('GET', '/inventory', { ...(await good()), text })).toMatch(expected);
  });
});

test('the administration port serves it, with the address of the service', async () => {
  const service = await start({ adminPort: 0 });
  const document = await (
    await fetch(`${service.adminUrl}/openapi.json`, { headers: { Authorization: `Bearer ${service.adminToken}` } })
  ).json();
  expect(document).toMatchObject({
    openapi: '3.1.0',
    servers: [{ url: service.url }],
    security: [{ apiKey: [] }],
    paths: {
      '/inventory/{petId}': { patch: { 'x-stability': 'experimental' } },
      '/pets/{petId}': { get: { deprecated: true } },
    },
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } },
      schemas: { InventoryItem: { properties: { petId: { type: 'integer', format: 'int64' } } } },
    },
  });
});

test('every status that it has is among the cases of the conformance suite', () => {
  type Operation = { responses: Record<string, unknown> };
  const paths = openApiDocument('http://127.0.0.1/v1').paths as Record<string, Record<string, Operation>>;
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const documented = new Set(operations.flatMap(({ responses }) => Object.keys(responses)));
  documented.delete('default');
  const shown = new Set(CASES.map(({ outcome }) => outcome.slice(0, 3)));
  expect([...documented].filter((status) => !shown.has(status))).toEqual([]);
});

test('its examples name a pet that is there, as it is', async () => {
  const small = {
    items: [
      { petId: 2n ** 60n, quantity: 1n, status: 'sold' as const },
      { petId: 2n ** 61n, quantity: 0n, status: 'sold' as const },
    ],
    orders: [],
  };
  const stock = { ...small, items: [...small.items, { petId: 77n, quantity: 3n, status: 'pending' as const }] };
  for (const [options, expected] of [
    [{}, { petId: 1, quantity: 12, status: 'available' }],
    [{ stock }, { petId: 77, quantity: 3, status: 'pending' }],
  ] as const) {
    const service = await start({ ...options, adminPort: 0 });
    const headers = { Authorization: `Bearer ${service.adminToken}` };
    const document = (await (await fetch(`${service.adminUrl}/openapi.json`, { headers })).json()) as Document;
    const { InventoryItem } = document.components.schemas;
    expect(InventoryItem?.examples).toEqual([expected]);
    const parameters = Object.values(document.paths)
      .flatMap((path) => Object.values(path))
      .flatMap((operation) => operation.parameters ?? []);
    expect(parameters.map(({ example }) => example)).toEqual([expected.petId, expected.petId]);
  }
});

interface Document {
  readonly paths: Record<string, Record<string, { readonly parameters?: readonly { readonly example: number }[] }>>;
  readonly components: { readonly schemas: Record<string, { readonly examples: readonly unknown[] }> };
}

test('with small ids none is beyond 2^53, and there are as many pets', async () => {
  const { json } = await (await start({ ids: 'small', pets: 30 })).get('/inventory');
  expect((json as { petId: number }[]).map(({ petId }) => petId)).toEqual(
    Array.from({ length: 30 }, (_, at) => at + 1),
  );
});
