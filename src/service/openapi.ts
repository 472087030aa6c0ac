import type { JsonValue } from './http/answer.ts';
import { itemFieldNames, itemFields, petStatuses } from './item.ts';
import { type Operation, operations } from './operations.ts';

/** The first pet of the default stock, with its initial quantity. */
const EXAMPLE = { petId: 1, quantity: 12, status: 'available' };

const types: Readonly<Record<string, JsonValue>> = {
  int64: { type: 'integer', format: 'int64' },
  integer: { type: 'integer' },
  status: { $ref: '#/components/schemas/PetStatus' },
};

function schemaOf({ type, description }: (typeof itemFields)[keyof typeof itemFields]): JsonValue {
  return type === 'status' ? (types[type] ?? {}) : { ...(types[type] as object), description };
}

const schemas: JsonValue = {
  PetStatus: { type: 'string', enum: petStatuses },
  InventoryItem: {
    type: 'object',
    required: itemFieldNames,
    properties: Object.fromEntries(itemFieldNames.map((name) => [name, schemaOf(itemFields[name])])),
    examples: [EXAMPLE],
  },
  InventoryUpdate: {
    type: 'object',
    required: ['quantity'],
    properties: { quantity: { type: 'integer', description: 'The new stock count.' } },
    examples: [{ quantity: EXAMPLE.quantity }],
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
};

function header(description: string, schema: JsonValue, required = true): JsonValue {
  return { description, ...(required && { required }), schema };
}

const count = { type: 'integer', format: 'int64', minimum: 0 };

const headers: Readonly<Record<string, JsonValue>> = {
  'X-RateLimit-Limit': header('The limit of the window, minute or day, with fewer requests remaining.', count),
  'X-RateLimit-Remaining': header('Requests remaining in that window.', count),
  'X-RateLimit-Reset': header('Unix timestamp, in seconds, at which that window ends.', count),
  'X-Request-Id': header('Identifies this request.', { type: 'string', format: 'uuid' }),
  'Cache-Control': header('Responses must not be cached.', { const: 'no-store' }),
  'WWW-Authenticate': header('`Bearer`, with `error="invalid_token"` if a key was sent.', {
    type: 'string',
    pattern: '^Bearer( error="invalid_token")?$',
  }),
  'Retry-After': header('Whole seconds until a request can be admitted again, rounded up.', {
    type: 'integer',
    minimum: 1,
  }),
  'Accept-Patch': header('The supported media type.', { const: 'application/json' }, false),
  'Accept-Encoding': header('Sent if the body was compressed.', { const: 'identity' }, false),
  Deprecation: header('When the operation was deprecated (RFC 9745).', { type: 'string', pattern: '^@\\d+$' }),
  Sunset: header('When the operation will be removed (RFC 8594): a date that the sandbox has chosen.', {
    type: 'string',
    pattern: ' GMT$',
  }),
};

const ON_ALL = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id', 'Cache-Control'];

/** Error responses by status, with the headers that only this status has. */
const refusals: Readonly<Record<string, readonly [description: string, ...headers: string[]]>> = {
  '400': ['The path is malformed, or the body is missing required fields or contains invalid values.'],
  '401': ['Missing or invalid API key.', 'WWW-Authenticate'],
  '404': ['The requested resource could not be found.'],
  '413': ['The body is larger than 16 KiB.'],
  '415': ['The body is not application/json, or it is compressed.', 'Accept-Patch', 'Accept-Encoding'],
  '429': ['The rate limit is exceeded, or the key is banned.', 'Retry-After'],
  '503': ["The stock can't be read or written at the moment. Nothing was changed."],
  default: ['Any other error.'],
};

const OF_EVERY_OPERATION = ['401', '429', '503', 'default'];

function response(description: string, schema: JsonValue, names: readonly string[]): JsonValue {
  return {
    description,
    headers: Object.fromEntries([...ON_ALL, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { 'application/json': { schema } },
  };
}

/** Returns the responses of an operation by status, ascending: an object keeps its numeric names in that order. */
function responsesOf({ returns, refusals: more, headers: ofPath = {} }: Operation): JsonValue {
  const names = Object.keys(ofPath);
  const failures = [...OF_EVERY_OPERATION, ...more].map((status) => {
    const [description = '', ...own] = refusals[status] ?? [];
    return [status, response(description, { $ref: '#/components/schemas/Error' }, [...names, ...own])];
  });
  return Object.fromEntries([['200', response(returns.description, returns.schema ?? {}, names)], ...failures]);
}

function operationObject(operation: Operation): JsonValue {
  const { operationId, tag, summary, description, stability, body } = operation;
  const parameters = Object.entries(operation.parameters).map(([name, { description, schema, example }]) => {
    return { name, in: 'path', required: true, description, schema, example };
  });
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(stability === 'deprecated' && { deprecated: true }),
    ...(stability === 'experimental' && { 'x-stability': stability }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${body.schema}` } } },
      },
    }),
    responses: responsesOf(operation),
  };
}

function paths(): JsonValue {
  const found: Record<string, Record<string, JsonValue>> = {};
  for (const operation of operations) {
    found[operation.path] = { ...found[operation.path], [operation.method.toLowerCase()]: operationObject(operation) };
  }
  return found;
}

const ABOUT = `Tracks and updates the stock levels of the pets in a store.

Every response has the three X-RateLimit headers, and every error an Error body. HEAD returns what GET does, without the body.
OPTIONS returns 204 and Allow. Any other HTTP method on a known path returns 405 and Allow.`;

/**
 * Returns the contract of the service as an OpenAPI 3.1 document.
 * @param baseUrl the address of the service, such as `http://127.0.0.1:4010/v1`
 */
export function openApiDocument(baseUrl: string) {
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
    paths: paths(),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' },
      },
      schemas,
      headers,
    },
  } satisfies JsonValue;
}
