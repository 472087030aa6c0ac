import { responses } from './responses.ts';
import { type Example, type Json, ref } from './schemas.ts';

const petIdParameter = ({ petId }: Example): Json => ({
  name: 'petId',
  in: 'path',
  required: true,
  description: 'The ID of the pet.',
  schema: { type: 'integer', format: 'int64' },
  example: petId,
});

/** The operations of the specification. Where it shows no payload, any JSON is one. */
export const pathsWith = (pet: Example): Json => ({
  '/inventory': {
    get: {
      operationId: 'listInventory',
      tags: ['inventory'],
      summary: 'List stock levels',
      description: 'Returns the current stock levels of all pets in the store.',
      responses: responses({
        describes: 'All entries, in the order of their ids, as they were at one moment.',
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
      parameters: [petIdParameter(pet)],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: ref('schemas/InventoryUpdate') } },
      },
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
      summary: 'One pet',
      description: 'Deprecated. Its payload is not specified.',
      deprecated: true,
      parameters: [petIdParameter(pet)],
      responses: responses({
        describes: 'What is known of the pet.',
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
      description: 'Its payload is not specified.',
      responses: responses({ describes: 'The orders.', ok: {} }),
    },
  },
});
