import { headers } from './headers.ts';
import { type Json, ref } from './schemas.ts';

/** What can go wrong, by status, with the headers that only this status has. */
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
  /** Headers of every answer of this operation. */
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
