import { expect } from 'vitest';
import { type Answer, outcome, rate, start, test } from './support.ts';

const SHOP = 'https://shop.example';
const ASK = {
  Origin: SHOP,
  'Access-Control-Request-Method': 'PATCH',
  'Access-Control-Request-Headers': 'authorization',
};
const preflight = (headers = {}) => ({ key: null, headers: { ...ASK, ...headers } });

function cors({ headers }: Answer) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /^(access-control-|vary)/.test(name)));
}

test('sends no CORS header without --cors, and requires a key for a preflight', async ({ service }) => {
  const answer = await service.call('OPTIONS', '/inventory/1', preflight());
  expect([outcome(answer), cors(answer)]).toEqual(['401 missing_api_key', {}]);
  expect(cors(await service.get('/inventory', { headers: { Origin: SHOP } }))).toEqual({});
});

test('answers a preflight of an allowed page without a key, and refuses that of another page', async () => {
  const service = await start({ cors: [SHOP], plan: 'free' });
  const answer = await service.call('OPTIONS', '/inventory/1', preflight());
  expect(answer.status).toBe(204);
  expect(cors(answer)).toMatchObject({
    'access-control-allow-origin': SHOP,
    'access-control-allow-methods': 'PATCH, OPTIONS',
    'access-control-allow-headers': 'Authorization, Content-Type',
    vary: 'Origin',
  });
  for (const [method, headers] of [
    ['GET', ASK],
    ['OPTIONS', { Origin: SHOP }],
    ['OPTIONS', { 'Access-Control-Request-Method': 'PATCH' }],
  ] as const) {
    expect(outcome(await service.call(method, '/inventory', { key: null, headers }))).toBe('401 missing_api_key');
  }
  expect(rate(answer)).toMatch(/^600\/600\//);
  expect(rate(await service.get('/inventory'))).toMatch(/^60\/59\//);
  const evil = await service.call('OPTIONS', '/inventory', preflight({ Origin: 'https://shop.example.evil' }));
  expect([outcome(evil), cors(evil)]).toEqual(['403 origin_not_allowed', { vary: 'Origin' }]);
});

test('allows only the given pages to read responses, errors and their headers', async () => {
  const service = await start({ cors: [SHOP, 'https://till.example'] });
  for (const key of [service.key, 'psk_wrong']) {
    const answer = await service.get('/inventory', { key, headers: { Origin: SHOP } });
    expect(cors(answer)['access-control-allow-origin']).toBe(SHOP);
    expect(cors(answer)['access-control-expose-headers']).toContain('X-RateLimit-Remaining');
  }
  for (const headers of [{ Origin: 'https://evil.example' }, undefined]) {
    expect(cors(await service.get('/inventory', { ...(headers && { headers }) }))).toEqual({ vary: 'Origin' });
  }
});

test('lets every page use the service with --cors *', async () => {
  const service = await start({ cors: ['*'] });
  const answer = await service.call('OPTIONS', '/inventory', preflight({ Origin: 'null' }));
  expect([answer.status, cors(answer)['access-control-allow-origin']]).toEqual([204, '*']);
});
