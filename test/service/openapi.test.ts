import { expect } from 'vitest';
import { openApiDocument } from '../../src/service/index.ts';
import { CASES } from './conformance-cases.ts';
import { useContract } from './contract.ts';
import { outcome, start, type TestService, test } from './support.ts';

const contract = useContract();
/** That answers are as the document says, is shown by the conformance suite. */
test('an answer that is not as the document says, is found out: a header or a field is missing', async () => {
  const answer = await (await start({ faults: ['*:without=X-RateLimit-Reset'] })).get('/inventory');
  expect(await contract.breach('GET', '/inventory', answer)).toMatch(/x-ratelimit-reset/);
  const good = await (await start()).get('/inventory');
  expect(await contract.breach('GET', '/inventory', { ...good, text: '[{"petId":1,"quantity":1}]' })).toMatch(/status/);
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

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly examples?: readonly unknown[];
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema; readonly example: unknown }[];
  readonly requestBody?: unknown;
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const described = openApiDocument('http://127.0.0.1/v1') as unknown as Described;
const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

async function ask(service: TestService, method: string, path: string, body: string | undefined) {
  const answer = await (body === undefined ? service.call(method, path) : service.patch(path, body));
  expect(await contract.breach(method, path, answer)).toBe('');
  return outcome(answer);
}

test('its examples fit their schemas, and are answered as they say', async ({ service }) => {
  const { InventoryItem: item, InventoryUpdate: update, Error: error } = described.components.schemas;
  const list = await service.get('/inventory');
  expect(await contract.breach('GET', '/inventory', { ...list, text: JSON.stringify(item?.examples) })).toBe('');
  const refused = await service.patch('/inventory/1', '{}');
  expect(
    await contract.breach('PATCH', '/inventory/1', { ...refused, text: JSON.stringify(error?.examples?.[0]) }),
  ).toBe('');
  expect(refused.json).toEqual(error?.examples?.[0]);
  for (const { path, method, operation } of operations) {
    const example = operation.parameters?.[0]?.example;
    const body = operation.requestBody === undefined ? undefined : JSON.stringify(update?.examples?.[0]);
    expect(await ask(service, method, path.replace('{petId}', `${example}`), body)).toBe('200');
  }
  expect((await service.get('/inventory')).json).toContainEqual(item?.examples?.[0]);
});
