import type { Answer, start, TestService } from './support.ts';

type Options = Parameters<typeof start>[0];
type Ask = (service: TestService) => Promise<Answer>;
type Call = Parameters<TestService['call']>[2];

/** A request, the outcome of its response, and the headers that not every response has. */
export interface Case {
  readonly name: string;
  /** The operation of the OpenAPI document that describes the response; null for a response without a body. */
  readonly operation: readonly [method: string, path: string] | null;
  readonly ask: Ask;
  readonly outcome: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: Options;
}

const SET = '{"quantity":5}';
const EXHAUSTED: Options = { limits: { minute: 0, day: 9 } };
const BANNED: Options = { ...EXHAUSTED, ban: { strikes: 0, seconds: 300 } };
const GET_ALLOWED = { allow: 'GET, HEAD, OPTIONS' };
const PATCH_ALLOWED = { allow: 'PATCH, OPTIONS' };
const RETRY = { 'retry-after': '60' };
const ASKS = { 'www-authenticate': 'Bearer' };
const INVALID = { 'www-authenticate': 'Bearer error="invalid_token"' };
const PATCHES = { 'accept-patch': 'application/json' };
const OLD = { deprecation: '@1767225600', sunset: 'Fri, 31 Dec 2027 23:59:59 GMT' };

function one(operation: Case['operation']) {
  return (name: string, ask: Ask, outcome: string, headers: Case['headers'] = {}, options: Options = {}): Case => {
    return { name, operation, ask, outcome, headers, options };
  };
}

const list = one(['GET', '/inventory']);
const update = one(['PATCH', '/inventory/1']);
const pet = one(['GET', '/pets/1']);
const orders = one(['GET', '/store/orders']);
const empty = one(null);

const get =
  (path: string, call?: Call): Ask =>
  (service) =>
    service.get(path, call);
const patch =
  (body: string | Uint8Array, call?: Call, path = '/inventory/1'): Ask =>
  (service) =>
    service.patch(path, body, call);
const call =
  (method: string, path: string, given?: Call): Ask =>
  (service) =>
    service.call(method, path, given);
const NO_KEY = { key: null };
const WRONG_KEY = { key: 'psk_wrong' };

async function afterGrace(service: TestService): Promise<Answer> {
  await service.get('/inventory');
  service.clock.advance(1_001);
  return service.patch('/inventory/1', SET);
}

const NOT_ALLOWED = '405 method_not_allowed';

const UNKNOWN = [
  '/',
  '/nowhere',
  '/inventory/',
  '//inventory',
  '/Inventory',
  '/inventory/1/2',
  '/inventory%2F1',
  '/pets',
  '/pets/',
  '/health',
  '/../v1/nowhere',
];

const NO_IDS = [
  'x',
  '1.0',
  '+1',
  '01',
  '-0',
  '0x1',
  '1e3',
  '%20',
  '%D9%A1',
  '9223372036854775808',
  '-9223372036854775809',
  '99999999999999999999999',
];

/** Bodies that the service rejects, by the code of the error. */
const BODIES: Readonly<Record<string, readonly string[]>> = {
  invalid_json: [
    '',
    '{',
    '{"quantity":',
    '{"quantity":05}',
    '{"quantity":+5}',
    '{"quantity":.5}',
    '{"quantity":NaN}',
    "{'quantity':5}",
    '{"quantity":5}{}',
    '{"quantity":5,}',
    '{"quantity":5,"quantity":6}',
    '['.repeat(16_000),
  ],
  invalid_body: ['null', '[]', '[{"quantity":5}]', '5', '"quantity"', `${'['.repeat(99)}${']'.repeat(99)}`],
  missing_quantity: ['{}', '{"Quantity":5}', '{"__proto__":{"quantity":5}}'],
  invalid_quantity: [
    'null',
    '"5"',
    'true',
    '[5]',
    '{"isLosslessNumber":true,"value":"5"}',
    '1.5',
    '1e-1',
    '1e999999999',
    '5.00000000000000000001',
    '9223372036854775808',
    '-9223372036854775809',
    '9'.repeat(16_000),
  ].map((quantity) => `{"quantity":${quantity}}`),
};

export const CASES: readonly Case[] = [
  list('GET /inventory', get('/inventory'), '200'),
  list('GET /inventory of no pets', get('/inventory'), '200', {}, { pets: 0 }),
  list('GET /inventory of several pages', get('/inventory'), '200', {}, { pets: 2_500 }),
  list('GET /inventory with a query', get('/inventory?status=sold'), '200'),
  pet('GET /pets/{petId}', get('/pets/1'), '200', OLD),
  orders('GET /store/orders', get('/store/orders'), '200'),
  empty('HEAD /inventory', call('HEAD', '/inventory'), '200'),
  empty('HEAD /pets/{petId}', call('HEAD', '/pets/1'), '200', OLD),
  empty('OPTIONS /inventory', call('OPTIONS', '/inventory'), '204', GET_ALLOWED),
  empty('OPTIONS /inventory/{petId}', call('OPTIONS', '/inventory/1'), '204', PATCH_ALLOWED),
  empty('HEAD /inventory/{petId}', call('HEAD', '/inventory/1'), '405', PATCH_ALLOWED),

  list('no key', get('/inventory', NO_KEY), '401 missing_api_key', ASKS),
  list('a wrong key', get('/inventory', WRONG_KEY), '401 invalid_api_key', INVALID),
  list('an unknown address without a key', get('/nowhere', NO_KEY), '401 missing_api_key', ASKS),
  update('an update without a key', patch(SET, NO_KEY), '401 missing_api_key', ASKS),
  update('an update with a wrong key', patch(SET, WRONG_KEY), '401 invalid_api_key', INVALID),
  pet('a pet without a key', get('/pets/1', NO_KEY), '401 missing_api_key', { ...ASKS, ...OLD }),
  empty('OPTIONS without a key', call('OPTIONS', '/inventory', NO_KEY), '401 missing_api_key', ASKS),

  ...UNKNOWN.map((path) => list(`GET ${path}`, get(path), '404 not_found')),
  ...['/%zz', '/inventory/%', '/inventory/%E0%A4%A'].map((path) => list(path, get(path), '400 malformed_path')),
  ...['POST', 'PATCH'].map((method) => {
    return list(`${method} /inventory`, call(method, '/inventory', { body: SET }), NOT_ALLOWED, GET_ALLOWED);
  }),
  ...['GET', 'PUT', 'DELETE'].map((method) => {
    return list(`${method} /inventory/{petId}`, call(method, '/inventory/1'), NOT_ALLOWED, PATCH_ALLOWED);
  }),
  pet('DELETE /pets/{petId}', call('DELETE', '/pets/1'), NOT_ALLOWED, { ...GET_ALLOWED, ...OLD }),
  orders('POST /store/orders', call('POST', '/store/orders'), NOT_ALLOWED, GET_ALLOWED),
  ...NO_IDS.map((id) => update(`the petId ${id}`, patch(SET, {}, `/inventory/${id}`), '400 invalid_pet_id')),
  ...['-9223372036854775808', '9223372036854775806', '9007199254740994', '0', '-1'].map((id) => {
    return update(`no pet ${id}`, patch(SET, {}, `/inventory/${id}`), '404 pet_not_found');
  }),
  pet('the petId x of a pet', get('/pets/x'), '400 invalid_pet_id', OLD),
  pet('a pet that is not there, by GET', get('/pets/424242'), '404 pet_not_found', OLD),

  update('no Content-Type', call('PATCH', '/inventory/1', { body: SET }), '415 unsupported_media_type', PATCHES),
  ...['text/plain', 'application/merge-patch+json', 'application/jsonp'].map((type) => {
    return update(type, patch(SET, { headers: { 'Content-Type': type } }), '415 unsupported_media_type', PATCHES);
  }),
  update('gzip', patch(SET, { headers: { 'Content-Encoding': 'gzip' } }), '415 unsupported_media_type', {
    'accept-encoding': 'identity',
  }),
  update('a body of 16,385 bytes', patch(SET.padEnd(16_385)), '413 payload_too_large'),
  ...Object.entries(BODIES).flatMap(([code, bodies]) => {
    return bodies.map((body) => update(`the body ${body.slice(0, 60)}`, patch(body), `400 ${code}`));
  }),
  update('no UTF-8', patch(Buffer.from('{"quantity":5,"n":"\xe9"}', 'latin1')), '400 invalid_json'),
  update(
    'a quantity out of bounds',
    patch('{"quantity":11}'),
    '400 invalid_quantity',
    {},
    { quantityBounds: { max: 10n } },
  ),

  list('beyond the limit', get('/inventory'), '429 rate_limited', RETRY, EXHAUSTED),
  update('an update beyond the limit', patch(SET), '429 rate_limited', RETRY, EXHAUSTED),
  pet('a pet beyond the limit', get('/pets/1'), '429 rate_limited', { ...RETRY, ...OLD }, EXHAUSTED),
  update('a banned key', afterGrace, '429 key_banned', { 'retry-after': '300' }, BANNED),
  list('an injected 500', get('/inventory'), '500 injected_fault', {}, { faults: ['*:status=500'] }),
  update('an injected 503', patch(SET), '503 injected_fault', {}, { faults: ['*:status=503'] }),
  pet('an injected 503 of a pet', get('/pets/1'), '503 injected_fault', OLD, { faults: ['*:status=503'] }),
];
