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

function header(description: string, schema: Json, required = true): Json {
  return { description, ...(required && { required }), schema };
}

const int64 = { type: 'integer', format: 'int64', minimum: 0 };
const seconds = { type: 'integer', minimum: 1 };

/** Every header that an answer can carry. Those of `ON_ALL` are on all. */
export const HEADERS: Readonly<Record<string, Json>> = {
  'X-RateLimit-Limit': header('The limit that applies: that of the window, minute or day, with less remaining.', int64),
  'X-RateLimit-Remaining': header('Requests remaining in that window.', int64),
  'X-RateLimit-Reset': header('Unix timestamp, in seconds, at which that window ends.', int64),
  'X-Request-Id': header('Names this request in the log of the service.', { type: 'string', format: 'uuid' }),
  'Cache-Control': header('Nothing is to be cached.', { const: 'no-store' }),
  'WWW-Authenticate': header('`Bearer`, with `error="invalid_token"` if a key was sent.', {
    type: 'string',
    pattern: '^Bearer( error="invalid_token")?$',
  }),
  'Retry-After': header('Whole seconds until a request can be admitted again, never too few.', seconds),
  'Retry-After-Of-503': header('Whole seconds after which it is worth while to ask again.', seconds, false),
  'Accept-Patch': header('The media type that is taken.', { const: 'application/json' }, false),
  'Accept-Encoding': header('Sent if the body was compressed.', { const: 'identity' }, false),
  Deprecation: header('Since when the operation is deprecated (RFC 9745).', { type: 'string', pattern: '^@\\d+$' }),
  Sunset: header('When the operation goes away (RFC 8594). The date is the embedded service’s own.', {
    type: 'string',
    pattern: ' GMT$',
  }),
};

const ON_ALL = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id', 'Cache-Control'];

/** The headers of one answer: those of all, and these; what comes after `-Of-` names another one of the same name. */
function headers(more: readonly string[]): Json {
  return Object.fromEntries([...ON_ALL, ...more].map((name) => [name.replace(/-Of-.*$/, ''), ref(`headers/${name}`)]));
}

/** Errors by status, with the headers that only this status has. */
const REFUSALS: Readonly<Record<string, readonly [description: string, ...headers: string[]]>> = {
  '400': ['The request is malformed, or its body is missing required fields or contains invalid values.'],
  '401': ['Missing or invalid API key.', 'WWW-Authenticate'],
  '404': ['The requested resource could not be found.'],
  '408': ['The request was not complete in time.'],
  '413': ['The body is larger than 16 KiB.'],
  '415': ['The body is not application/json, or it is compressed.', 'Accept-Patch', 'Accept-Encoding'],
  '417': ['An expectation other than 100-continue.'],
  '429': ['The rate limit is exceeded, or the key is banned for going on after that.', 'Retry-After'],
  '431': ['The header fields are too large.'],
  '501': ['The method or the transfer coding is not implemented.'],
  '503': [
    'The stock cannot be read or written at the moment. With the code outcome_unknown the change may have been made.',
    'Retry-After-Of-503',
  ],
  default: ['Any other error.'],
};

const OF_EVERY_OPERATION = ['400', '401', '408', '417', '429', '431', '501', '503', 'default'];

interface Outcomes {
  /** Schema of the body of a 200. */
  readonly ok: Json;
  readonly describes: string;
  /** Statuses beyond those that every operation has. */
  readonly refusals?: readonly string[];
  readonly headers?: readonly string[];
}

/** The answers of one operation, by status in rising order. */
export function responses({ ok, describes, refusals = [], headers: more = [] }: Outcomes): Json {
  const failures = [...OF_EVERY_OPERATION, ...refusals].sort().map((status) => {
    const [description = '', ...own] = REFUSALS[status] ?? [];
    return [status, response(description, ref('schemas/Error'), [...more, ...own])] as const;
  });
  return Object.fromEntries([['200', response(describes, ok, more)], ...failures]);
}

function response(description: string, schema: Json, more: readonly string[]): Json {
  return { description, headers: headers(more), content: { 'application/json': { schema } } };
}
