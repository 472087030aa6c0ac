import { type Json, ref } from './schemas.ts';

const int64 = { type: 'integer', format: 'int64', minimum: 0 };

/** Every header that an answer can carry. Those of `ON_ALL` are on all. */
export const HEADERS: Readonly<Record<string, Json>> = {
  'X-RateLimit-Limit': {
    description: 'The limit that applies: that of the window, minute or day, with less remaining.',
    required: true,
    schema: int64,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests remaining in that window.',
    required: true,
    schema: int64,
  },
  'X-RateLimit-Reset': {
    description: 'Unix timestamp, in seconds, at which that window ends.',
    required: true,
    schema: int64,
  },
  'X-Request-Id': {
    description: 'Names this request in the log of the service.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  'Cache-Control': { description: 'Nothing is to be cached.', required: true, schema: { const: 'no-store' } },
  'WWW-Authenticate': {
    description: '`Bearer`, with `error="invalid_token"` where a key was sent.',
    required: true,
    schema: { type: 'string', pattern: '^Bearer( error="invalid_token")?$' },
  },
  'Retry-After': {
    description: 'Whole seconds until a request can be admitted again, never too few.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  'Retry-After-Of-503': {
    description: 'Whole seconds after which it is worth while to ask again.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Accept-Patch': { description: 'The media type that is taken.', schema: { const: 'application/json' } },
  'Accept-Encoding': { description: 'Sent where the body was compressed.', schema: { const: 'identity' } },
  Deprecation: {
    description: 'Since when the operation is deprecated (RFC 9745).',
    required: true,
    schema: { type: 'string', pattern: '^@\\d+$' },
  },
  Sunset: {
    description: 'When the operation goes away (RFC 8594). The date is the embedded service’s own.',
    required: true,
    schema: { type: 'string', pattern: ' GMT$' },
  },
};

const ON_ALL = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id', 'Cache-Control'];

/** The headers of one answer: those of all, and these; what comes after `-Of-` names another one of the same name. */
export function headers(more: readonly string[]): Json {
  return Object.fromEntries([...ON_ALL, ...more].map((name) => [name.replace(/-Of-.*$/, ''), ref(`headers/${name}`)]));
}
