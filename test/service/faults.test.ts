import { describe, expect, test } from 'vitest';
import { FaultSpecError } from '../../src/service/index.ts';
import { outcome, outcomes, rate, start, temporaryFile } from './support.ts';

describe('what strikes when', () => {
  test('every n-th', async () => {
    const service = await start({ faults: ['GET /inventory:every=3:status=503'] });
    const [ok, bad] = ['200', '503 injected_fault'];
    expect(await outcomes(service, 7)).toEqual([ok, ok, bad, ok, ok, bad, ok]);
  });

  test('the first n', async () => {
    const service = await start({ faults: ['*:first=2:status=500'] });
    expect(await outcomes(service, 3)).toEqual(['500 injected_fault', '500 injected_fault', '200']);
  });

  test('with a probability, the same requests for the same seed', async () => {
    const struck = async (seed: number) => outcomes(await start({ faults: [`*:p=0.4:seed=${seed}:status=500`] }), 40);
    const once = await struck(7);
    expect(once).toEqual(await struck(7));
    expect(once).not.toEqual(await struck(8));
    expect(once.filter((seen) => seen === '200').length).toBeGreaterThan(12);
    expect(once.filter((seen) => seen !== '200').length).toBeGreaterThan(6);
  });

  test('only the method and the path that it matches', async () => {
    const service = await start({ faults: ['PATCH /inventory/*:status=503', 'GET /pets/2:status=502'] });
    expect(outcome(await service.patch('/inventory/1', '{"quantity":1}'))).toBe('503 injected_fault');
    expect(outcome(await service.get('/inventory/1'))).toBe('405 method_not_allowed');
    expect(outcome(await service.get('/inventory'))).toBe('200');
    expect(outcome(await service.get('/pets/1'))).toBe('200');
    expect(outcome(await service.get('/pets/2?x'))).toBe('502 injected_fault');
  });

  test('never a request that is refused for its key or its quota', async () => {
    const service = await start({ faults: ['*:status=503'], limits: { minute: 1, day: 9 } });
    expect(outcome(await service.get('/inventory', { key: null }))).toBe('401 missing_api_key');
    expect(await outcomes(service, 2)).toEqual(['503 injected_fault', '429 rate_limited']);
  });
});

test('a status has an Error body, is charged, and does nothing', async () => {
  const service = await start({ faults: ['PATCH /inventory/*:first=1:status=503:retry-after=7'] });
  const before = (await service.get('/inventory')).text;
  const answer = await service.patch('/inventory/1', '{"quantity":4711}');
  expect(answer.json).toEqual({ code: 'injected_fault', message: expect.any(String), status: 503 });
  expect(answer.headers['retry-after']).toBe('7');
  expect(rate(answer)).toMatch(/^1000\/998\//);
  expect((await service.get('/inventory')).text).toBe(before);
});

test('Retry-After can be anything: a date, nonsense, nothing', async () => {
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT';
  const service = await start({
    faults: [
      `GET /inventory:status=429:retry-after=${date}`,
      'GET /pets/1:status=429:retry-after=soon',
      '/store/orders:status=429',
    ],
  });
  const paths = ['/inventory', '/pets/1', '/store/orders'];
  const answers = await Promise.all(paths.map((path) => service.get(path)));
  expect(answers.map(({ headers }) => headers['retry-after'])).toEqual([date, 'soon', undefined]);
});

test('reset: the connection is reset, nothing is done', async () => {
  const service = await start({ faults: ['PATCH /inventory/*:first=1:reset'] });
  await expect(service.patch('/inventory/1', '{"quantity":4711}')).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect((await service.get('/inventory')).text).not.toContain('4711');
});

test('hang: no answer, and closing the service does not wait for it', async () => {
  const service = await start({ faults: ['PATCH /inventory/*:hang'] });
  const hanging = service.patch('/inventory/1', '{"quantity":4711}');
  const ended = expect(hanging).rejects.toThrow('socket hang up');
  while (service.journal().length === 0) await service.get('/inventory');
  expect((await service.get('/inventory')).text).not.toContain('4711');
  await service.close();
  await ended;
});

test.each([
  ['one page', 24],
  ['several pages', 2_500],
])('truncate: a list of %s ends in the middle of its body', async (_name, pets) => {
  const service = await start({ pets, faults: ['GET /inventory:first=1:truncate'] });
  await expect(service.get('/inventory')).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect((await service.get('/inventory')).json).toHaveLength(pets);
});

test.each([
  ['one page', 24],
  ['several pages', 2_500],
])('malform: a list of %s is no JSON, but well-formed HTTP', async (_name, pets) => {
  const service = await start({ pets, faults: ['GET /inventory:first=1:malform'] });
  const answer = await service.get('/inventory');
  expect([answer.status, answer.json, answer.text.slice(0, 10)]).toEqual([200, undefined, '<{"petId":']);
  expect((await service.get('/inventory')).json).toHaveLength(pets);
});

test('without: the named headers are missing', async () => {
  const service = await start({ faults: ['*:without=X-RateLimit-Remaining,date,content-type'] });
  const { headers } = await service.get('/inventory');
  expect(headers['x-ratelimit-remaining'] ?? headers.date ?? headers['content-type']).toBeUndefined();
  expect(headers['x-ratelimit-limit']).toBe('1000');
});

test('commit-then-drop: the update is done, its answer is lost', async () => {
  const service = await start({ faults: ['PATCH /inventory/*:first=1:commit-then-drop'] });
  await expect(service.patch('/inventory/1', '{"quantity":4711}')).rejects.toThrow('socket hang up');
  expect((await service.get('/inventory')).text).toContain('{"petId":1,"quantity":4711,');
  expect(service.journal()[0]).toMatchObject({ method: 'PATCH', body: '{"quantity":4711}', status: null });
});

test('commit-then-drop of a long list leaves no snapshot behind', async () => {
  const service = await start({ file: temporaryFile(), pets: 2_500, faults: ['*:first=1:commit-then-drop'] });
  await expect(service.get('/inventory')).rejects.toThrow('socket hang up');
  expect((await service.get('/inventory')).json).toHaveLength(2_500);
});

test('delay: the answer comes later, and nothing else is held up', async () => {
  const service = await start({ faults: ['GET /pets/1:delay=3600000', 'GET /pets/2:delay=1-9:status=500'] });
  const hangup = new AbortController();
  const headers = { Authorization: `Bearer ${service.key}` };
  const delayed = fetch(`${service.url}/pets/1`, { headers, signal: hangup.signal });
  const outcomesMeanwhile = [outcome(await service.get('/inventory')), outcome(await service.get('/pets/2'))];
  expect(outcomesMeanwhile).toEqual(['200', '500 injected_fault']);
  hangup.abort();
  await expect(delayed).rejects.toThrow(/abort/);
});

test('setFaults puts others in their place, and leaves all as it is when one cannot be read', async () => {
  const service = await start({ faults: ['*:status=503'] });
  expect(() => service.setFaults(['*:status=500', '*:nonsense'])).toThrow(FaultSpecError);
  expect(await outcomes(service, 1)).toEqual(['503 injected_fault']);
  service.setFaults([]);
  expect(await outcomes(service, 1)).toEqual(['200']);
});
