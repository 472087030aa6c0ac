import type { ServiceStorage } from '../storage/storage.ts';
import { type Example, FIRST_PET, HEADERS, type Json, ref, responses, schemasWith } from './components.ts';

/**
 * Returns the first pet on the first page of the inventory whose numbers fit into a double; the first pet of the
 * default stock if there is none.
 */
export async function examplePet(storage: ServiceStorage): Promise<Example> {
  const pages = storage.inventory();
  const { value: page } = await pages.next();
  await pages.return();
  const items: readonly Example[] = JSON.parse(`[${page ?? ''}]`);
  return (
    items.find(({ petId, quantity }) => Number.isSafeInteger(petId) && Number.isSafeInteger(quantity)) ?? FIRST_PET
  );
}

/** The operations of the specification. An undefined payload is described as any JSON. */
const pathsWith = ({ petId }: Example): Json => {
  const parameters = [
    {
      name: 'petId',
      in: 'path',
      required: true,
      description: 'The ID of the pet.',
      schema: { type: 'integer', format: 'int64' },
      example: petId,
    },
  ];
  return {
    '/inventory': {
      get: {
        operationId: 'listInventory',
        tags: ['inventory'],
        summary: 'List stock levels',
        description: 'Returns the current stock levels of all pets in the store.',
        responses: responses({
          describes: 'All entries, ordered by id, as a snapshot.',
          ok: { type: 'array', items: ref('schemas/InventoryItem') },
        }),
      },
    },
    '/inventory/{petId}': {
      patch: {
        operationId: 'updateInventory',
        tags: ['inventory'],
        summary: 'Set the stock of one pet',
        description: 'Experimental: the request shape may change before it becomes stable.',
        'x-stability': 'experimental',
        parameters,
        requestBody: { required: true, content: { 'application/json': { schema: ref('schemas/InventoryUpdate') } } },
        responses: responses({
          describes: 'The updated entry.',
          ok: ref('schemas/InventoryItem'),
          refusals: ['404', '413', '415'],
        }),
      },
    },
    '/pets/{petId}': {
      get: {
        operationId: 'getPet',
        tags: ['pets'],
        summary: 'Get one pet',
        description: 'Deprecated. The specification does not define its payload.',
        deprecated: true,
        parameters,
        responses: responses({
          describes: 'What is known about the pet.',
          ok: {},
          refusals: ['404'],
          headers: ['Deprecation', 'Sunset'],
        }),
      },
    },
    '/store/orders': {
      get: {
        operationId: 'listOrders',
        tags: ['store'],
        summary: 'List orders',
        description: 'The specification does not define its payload.',
        responses: responses({ describes: 'The orders.', ok: {} }),
      },
    },
  };
};

const ABOUT = `Tracks and updates the stock levels of the pets in a store.

Every response has the three X-RateLimit headers, and every error an Error body. HEAD returns what GET does, without the body.
OPTIONS returns 204 and Allow. Any other HTTP method on a known path returns 405 and Allow.`;

/**
 * Returns the contract of the service as an OpenAPI 3.1 document.
 * @param baseUrl the address of the service, such as `http://127.0.0.1:4010/v1`
 * @param pet an existing pet for the examples; default: the first pet of the default stock
 */
export function openApiDocument(baseUrl: string, pet: Example = FIRST_PET) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet Store Inventory Service',
      version: '1.0.0',
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: [
      { name: 'inventory', description: 'Stock levels.' },
      { name: 'pets', description: 'Pet records.' },
      { name: 'store', description: 'Orders.' },
    ],
    security: [{ apiKey: [] }],
    paths: pathsWith(pet),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' },
      },
      schemas: schemasWith(pet),
      headers: HEADERS,
    },
  } satisfies Json;
}
