import { type Answer, parseRaw, type start, type TestService } from './support.ts';

type Options = Parameters<typeof start>[0];
type Ask = (service: TestService) => Promise<Answer>;
type Call = Parameters<TestService['call']>[2];

/** One request, what it is answered with, and the headers that this answer has besides those of all. */
export interface Case {
  readonly name: string;
  /** The operation of the OpenAPI document whose answer this is; null for an answer without a body. */
  readonly operation: readonly [method: string, path: string] | null;
  readonly ask: Ask;
  readonly outcome: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: Options;
}

const SET = '{"quantity":5}';
const EXHAUSTED: Options = { limits: { minute: 0, day: 9 } };
const BANNED: Options = { ...EXHAUSTED, ban: { strikes: 0, seconds: 300 } };
const IMPATIENT: Options = { patience: { headersMs: 20, requestMs: 20 } };
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
const bytes =
  (text: string): Ask =>
  async (service) =>
    parseRaw(await service.raw(text.replace('<key>', service.key)));

const PATCH_HEAD =
  'PATCH /v1/inventory/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer <key>\r\nContent-Type: application/json\r\n';
const NO_KEY = { key: null };
const WRONG_KEY = { key: 'psk_wrong' };

async function afterGrace(service: TestService): Promise<Answer> {
  await service.get('/inventory');
  service.clock.advance(1_001);
  return service.patch('/inventory/1', SET);
}

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

  list('an unknown address', get('/nowhere'), '404 not_found'),
  list('a trailing slash', get('/inventory/'), '404 not_found'),
  list('the percent-encoding %zz', get('/%zz'), '400 malformed_path'),
  list('the percent-encoding of half a character', get('/inventory/%E0%A4%A'), '400 malformed_path'),
  list('POST /inventory', call('POST', '/inventory', { body: SET }), '405 method_not_allowed', GET_ALLOWED),
  list('PUT /inventory/{petId}', call('PUT', '/inventory/1', { body: SET }), '405 method_not_allowed', PATCH_ALLOWED),
  list('DELETE /inventory/{petId}', call('DELETE', '/inventory/1'), '405 method_not_allowed', PATCH_ALLOWED),
  list('GET /inventory/{petId}', get('/inventory/1'), '405 method_not_allowed', PATCH_ALLOWED),
  update('the petId x', patch(SET, {}, '/inventory/x'), '400 invalid_pet_id'),
  update('the petId 1.0', patch(SET, {}, '/inventory/1.0'), '400 invalid_pet_id'),
  update('the petId 2^63', patch(SET, {}, '/inventory/9223372036854775808'), '400 invalid_pet_id'),
  update('a pet that is not there', patch(SET, {}, '/inventory/424242'), '404 pet_not_found'),
  pet('the petId x of a pet', get('/pets/x'), '400 invalid_pet_id', OLD),
  pet('a pet that is not there, by GET', get('/pets/424242'), '404 pet_not_found', OLD),

  update('no Content-Type', call('PATCH', '/inventory/1', { body: SET }), '415 unsupported_media_type', PATCHES),
  update(
    'text/plain',
    patch(SET, { headers: { 'Content-Type': 'text/plain' } }),
    '415 unsupported_media_type',
    PATCHES,
  ),
  update('gzip', patch(SET, { headers: { 'Content-Encoding': 'gzip' } }), '415 unsupported_media_type', {
    'accept-encoding': 'identity',
  }),
  update('a body of 16,385 bytes', patch(SET.padEnd(16_385)), '413 payload_too_large'),
  update('no body', patch(''), '400 invalid_json'),
  update('half a body', patch('{"quantity":'), '400 invalid_json'),
  update('malformed JSON', patch("{'quantity':5}"), '400 invalid_json'),
  update('a leading zero', patch('{"quantity":05}'), '400 invalid_json'),
  update('duplicate keys', patch('{"quantity":5,"quantity":6}'), '400 invalid_json'),
  update('no UTF-8', patch(Buffer.from('{"quantity":5,"n":"\xe9"}', 'latin1')), '400 invalid_json'),
  update('a body of null', patch('null'), '400 invalid_body'),
  update('an array', patch('[{"quantity":5}]'), '400 invalid_body'),
  update('no quantity', patch('{}'), '400 missing_quantity'),
  update('the quantity null', patch('{"quantity":null}'), '400 invalid_quantity'),
  update('the quantity "5"', patch('{"quantity":"5"}'), '400 invalid_quantity'),
  update('the quantity true', patch('{"quantity":true}'), '400 invalid_quantity'),
  update('the quantity 1.5', patch('{"quantity":1.5}'), '400 invalid_quantity'),
  update('the quantity 2^63', patch('{"quantity":9223372036854775808}'), '400 invalid_quantity'),
  update('the quantity 1e999999999', patch('{"quantity":1e999999999}'), '400 invalid_quantity'),
  update(
    'a quantity out of bounds',
    patch('{"quantity":11}'),
    '400 invalid_quantity',
    {},
    { quantityBounds: { max: 10n } },
  ),

  list('no HTTP', bytes('hello\r\n\r\n'), '400 malformed_request'),
  list('no Host', bytes('GET /v1/inventory HTTP/1.1\r\nConnection: close\r\n\r\n'), '401 missing_api_key', ASKS),
  list('CONNECT', bytes('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'), '405 method_not_allowed', { allow: '' }),
  list('an unknown method', bytes('FEED /v1/inventory HTTP/1.1\r\nHost: x\r\n\r\n'), '501 not_implemented'),
  list('long headers', get('/inventory', { headers: { 'X-Long': 'a'.repeat(17_000) } }), '431 headers_too_large'),
  list('an expectation', get('/inventory', { headers: { Expect: 'coffee' } }), '417 expectation_failed'),
  list('slow headers', bytes('GET /v1/inventory HTTP/1.1\r\nHost:'), '408 request_timeout', {}, IMPATIENT),
  update('a slow body', bytes(`${PATCH_HEAD}Content-Length: 14\r\n\r\n{"quan`), '408 request_timeout', {}, IMPATIENT),

  list('beyond the limit', get('/inventory'), '429 rate_limited', RETRY, EXHAUSTED),
  update('an update beyond the limit', patch(SET), '429 rate_limited', RETRY, EXHAUSTED),
  pet('a pet beyond the limit', get('/pets/1'), '429 rate_limited', { ...RETRY, ...OLD }, EXHAUSTED),
  update('a banned key', afterGrace, '429 key_banned', { 'retry-after': '300' }, BANNED),
  list('an injected 500', get('/inventory'), '500 injected_fault', {}, { faults: ['*:status=500'] }),
  update('an injected 503', patch(SET), '503 injected_fault', {}, { faults: ['*:status=503'] }),
];
