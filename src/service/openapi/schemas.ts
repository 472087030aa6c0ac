/** A value of JSON: what an OpenAPI document is made of. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** A pet that the examples name: one that the service has. */
export interface Example {
  readonly petId: number;
  readonly quantity: number;
  readonly status: string;
}

/** The first pet of the default stock, as it is at first. */
export const FIRST_PET: Example = { petId: 1, quantity: 12, status: 'available' };

/** The schemas of the specification, field by field. */
export const schemasWith = (pet: Example): Readonly<Record<string, Json>> => ({
  PetStatus: { type: 'string', enum: ['available', 'pending', 'sold'] },
  InventoryItem: {
    type: 'object',
    required: ['petId', 'quantity', 'status'],
    properties: {
      petId: { type: 'integer', format: 'int64', description: 'Identifier of the animal that the entry tracks.' },
      quantity: { type: 'integer', description: 'Current stock count.' },
      status: ref('schemas/PetStatus'),
    },
    examples: [{ ...pet }],
  },
  InventoryUpdate: {
    type: 'object',
    required: ['quantity'],
    properties: { quantity: { type: 'integer', description: 'The new stock count.' } },
    examples: [{ quantity: pet.quantity }],
  },
  Error: {
    type: 'object',
    required: ['code', 'message', 'status'],
    properties: {
      code: { type: 'string', description: 'Machine-readable error code.' },
      message: { type: 'string', description: 'Human-readable description of the error.' },
      status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status code of the answer.' },
    },
    examples: [{ code: 'missing_quantity', message: 'The field quantity is required.', status: 400 }],
  },
});

/** A reference to a component: `schemas/Error`. */
export function ref(component: string): Json {
  return { $ref: `#/components/${component}` };
}
