import { describe, expect, test } from 'vitest';
import { openApiDocument } from '../../src/service/index.ts';
import fc from '../support/seeded-fast-check.ts';
import { useContract } from './contract.ts';
import { outcome, start, type TestService } from './support.ts';

const contract = useContract();

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly examples?: readonly unknown[];
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema; readonly example: unknown }[];
  readonly requestBody?: unknown;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const document = openApiDocument('http://127.0.0.1/v1') as unknown as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
/** Fields beside the one that is asked for: the document allows any. */
const others = fc.dictionary(
  fc.string().filter((name) => name !== 'quantity' && name !== '__proto__'),
  fc.jsonValue(),
  { maxKeys: 3 },
);
/** What JSON Schema does not take for an integer. */
const noInteger = fc.jsonValue().filter((value) => !Number.isInteger(value));
/** Some are in the default stock. */
const petId = fc.oneof(fc.constantFrom('1', '9007199254740993', '9223372036854775807'), int64.map(String));

function bodyWith(quantity: string, more: object): string {
  return `${JSON.stringify(more).replace(/\}$/, Object.keys(more).length > 0 ? ',' : '')}"quantity":${quantity}}`;
}

async function ask(service: TestService, method: string, path: string, body: string | undefined) {
  const answer = await (body === undefined ? service.call(method, path) : service.patch(path, body));
  expect(await contract.breach(method, path, answer)).toBe('');
  return outcome(answer);
}

const limits = { minute: 10n ** 9n, day: 10n ** 9n };

describe('does what the document allows', () => {
  test.each(operations)('$method $path', { timeout: 60_000 }, async ({ path, method, operation }) => {
    const service = await start({ limits });
    const ids = new Set((await service.get('/inventory')).text.match(/(?<="petId":)-?\d+/g));
    const property = fc.asyncProperty(petId, int64, others, async (id, quantity, more) => {
      const body = operation.requestBody === undefined ? undefined : bodyWith(`${quantity}`, more);
      const isThere = !path.includes('{') || ids.has(id);
      const seen = await ask(service, method, path.replace('{petId}', id), body);
      expect(seen).toBe(isThere ? '200' : '404 pet_not_found');
    });
    await fc.assert(property, { numRuns: 25 });
  });
});

test('refuses what the document does not allow, and changes nothing', { timeout: 60_000 }, async () => {
  const service = await start({ limits });
  const before = (await service.get('/inventory')).text;
  const property = fc.asyncProperty(petId, noInteger, others, async (id, quantity, more) => {
    const seen = await ask(service, 'PATCH', `/inventory/${id}`, bodyWith(JSON.stringify(quantity), more));
    expect(seen).toBe('400 invalid_quantity');
  });
  await fc.assert(property, { numRuns: 25 });
  expect((await service.get('/inventory')).text).toBe(before);
});

test('its examples fit their schemas, and are answered as they say', async () => {
  const service = await start();
  const [{ InventoryItem: item, InventoryUpdate: update, Error: error }] = [document.components.schemas];
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
