/** A JSON value, such as an OpenAPI document. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** The pet in the examples of the document. */
export interface Example {
  readonly petId: number;
  readonly quantity: number;
  readonly status: string;
}

/** The first pet of the default stock, with its initial quantity. */
export const FIRST_PET: Example = { petId: 1, quantity: 12, status: 'available' };

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
      status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status code of the response.' },
    },
    examples: [{ code: 'missing_quantity', message: 'The field quantity is required.', status: 400 }],
  },
});

/** Returns a reference to a component, such as `schemas/Error`. */
export function ref(component: string): Json {
  return { $ref: `#/components/${component}` };
}

function header(description: string, schema: Json, required = true): Json {
  return { description, ...(required && { required }), schema };
}

const int64 = { type: 'integer', format: 'int64', minimum: 0 };
const seconds = { type: 'integer', minimum: 1 };

/** The headers of responses that the document describes. Those in `ON_ALL` are in all responses. */
export const HEADERS: Readonly<Record<string, Json>> = {
  'X-RateLimit-Limit': header('The limit of the window, minute or day, with fewer requests remaining.', int64),
  'X-RateLimit-Remaining': header('Requests remaining in that window.', int64),
  'X-RateLimit-Reset': header('Unix timestamp, in seconds, at which that window ends.', int64),
  'X-Request-Id': header('Identifies this request in the log of the service.', { type: 'string', format: 'uuid' }),
  'Cache-Control': header('Responses must not be cached.', { const: 'no-store' }),
  'WWW-Authenticate': header('`Bearer`, with `error="invalid_token"` if a key was sent.', {
    type: 'string',
    pattern: '^Bearer( error="invalid_token")?$',
  }),
  'Retry-After': header('Whole seconds until a request can be admitted again, rounded up.', seconds),
  'Retry-After-Of-503': header('Whole seconds until another attempt may succeed.', seconds, false),
  'Accept-Patch': header('The supported media type.', { const: 'application/json' }, false),
  'Accept-Encoding': header('Sent if the body was compressed.', { const: 'identity' }, false),
  Deprecation: header('When the operation was deprecated (RFC 9745).', { type: 'string', pattern: '^@\\d+$' }),
  Sunset: header('When the operation will be removed (RFC 8594): a date that the sandbox has chosen.', {
    type: 'string',
    pattern: ' GMT$',
  }),
};

const ON_ALL = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id', 'Cache-Control'];

/**
 * Returns the common headers and `more`. The suffix `-Of-503` distinguishes headers of the same name and is removed.
 */
function headers(more: readonly string[]): Json {
  return Object.fromEntries([...ON_ALL, ...more].map((name) => [name.replace('-Of-503', ''), ref(`headers/${name}`)]));
}

/** Error responses by status, with the headers that only this status has. */
const REFUSALS: Readonly<Record<string, readonly [description: string, ...headers: string[]]>> = {
  '400': ['The request is malformed, or its body is missing required fields or contains invalid values.'],
  '401': ['Missing or invalid API key.', 'WWW-Authenticate'],
  '404': ['The requested resource could not be found.'],
  '408': ['The request did not arrive completely in time.'],
  '413': ['The body is larger than 16 KiB, or its chunk extensions are too large.'],
  '415': ['The body is not application/json, or it is compressed.', 'Accept-Patch', 'Accept-Encoding'],
  '417': ['An expectation other than 100-continue.'],
  '429': ['The rate limit is exceeded, or the key is banned.', 'Retry-After'],
  '431': ['The header fields are too large, or there are too many.'],
  '501': ['The method or the transfer coding is not implemented.'],
  '503': [
    "The stock can't be read or written at the moment. With the code outcome_unknown the change may have been made.",
    'Retry-After-Of-503',
  ],
  default: ['Any other error.'],
};

const OF_EVERY_OPERATION = ['400', '401', '408', '417', '429', '431', '501', '503', 'default'];

interface Outcomes {
  /** The schema of the body of a 200. */
  readonly ok: Json;
  readonly describes: string;
  /** Statuses in addition to those that every operation has. */
  readonly refusals?: readonly string[];
  readonly headers?: readonly string[];
}

/** Returns the responses of one operation by status, ascending: an object keeps its numeric names in that order. */
export function responses({ ok, describes, refusals = [], headers: more = [] }: Outcomes): Json {
  const failures = [...OF_EVERY_OPERATION, ...refusals].map((status) => {
    const [description = '', ...own] = REFUSALS[status] ?? [];
    return [status, response(description, ref('schemas/Error'), [...more, ...own])] as const;
  });
  return Object.fromEntries([['200', response(describes, ok, more)], ...failures]);
}

function response(description: string, schema: Json, more: readonly string[]): Json {
  return { description, headers: headers(more), content: { 'application/json': { schema } } };
}
