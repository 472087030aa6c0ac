import { describe, expect, test } from 'vitest';
import { FaultSet } from '../../src/service/faults.ts';
import { FaultSpecError } from '../../src/service/index.ts';
import { outcome, outcomes, rate, start, temporaryFile } from './support.ts';

const SET = '{"quantity":4711}';

describe('when faults strike', () => {
  const [ok, bad] = ['200', '503 injected_fault'];

  test.each([
    ['every n-th request', 'GET /inventory:every=3:status=503', [ok, ok, bad, ok, ok, bad, ok]],
    ['the first n requests', '*:first=2:status=503', [bad, bad, ok]],
    ['every request within the quota', '*:status=503', [...Array(8).fill(bad), '429 rate_limited']],
  ])('applies a fault to %s', async (_what, fault, expected) => {
    const service = await start({ faults: [fault], limits: { minute: 8, day: 9 } });
    expect(outcome(await service.get('/inventory', { key: null }))).toBe('401 missing_api_key');
    expect(await outcomes(service, expected.length)).toEqual(expected);
  });

  test('applies a fault with a probability to the same requests if the seed is the same', async () => {
    const struck = async (seed: number) => outcomes(await start({ faults: [`*:p=0.4:seed=${seed}:status=500`] }), 40);
    const once = await struck(7);
    expect(once).toEqual(await struck(7));
    expect(once).not.toEqual(await struck(8));
    expect(once.filter((seen) => seen === '200').length).toBeGreaterThan(12);
    expect(once.filter((seen) => seen !== '200').length).toBeGreaterThan(6);
  });

  test('applies a fault only to the method and path that it names', async () => {
    const service = await start({ faults: ['PATCH /inventory/*:status=503', 'GET /pets/2:status=502'] });
    expect(outcome(await service.patch('/inventory/1', SET))).toBe('503 injected_fault');
    expect(outcome(await service.get('/inventory/1'))).toBe('405 method_not_allowed');
    expect(outcome(await service.get('/inventory'))).toBe('200');
    expect(outcome(await service.get('/pets/1'))).toBe('200');
    expect(outcome(await service.get('/pets/2?x'))).toBe('502 injected_fault');
  });
});

const DATE = 'Wed, 21 Oct 2026 07:28:00 GMT';

test.each([
  [':retry-after=7', '7'],
  [`:retry-after=${DATE}`, DATE],
  [':retry-after=soon', 'soon'],
  ['', undefined],
])('answers a request hit by the fault status=503%s with an Error, and changes nothing', async (more, retryAfter) => {
  const service = await start({ faults: [`PATCH /inventory/*:first=1:status=503${more}`] });
  const before = (await service.get('/inventory')).text;
  const answer = await service.patch('/inventory/1', SET);
  expect(answer.json).toEqual({ code: 'injected_fault', message: expect.any(String), status: 503 });
  expect(answer.headers['retry-after']).toBe(retryAfter);
  expect(rate(answer)).toMatch(/^1000\/998\//);
  expect((await service.get('/inventory')).text).toBe(before);
});

test.each([
  ['reset', /ECONNRESET/, false],
  ['commit-then-drop', /^socket hang up$/, true],
])('ends the connection with the fault %s (%s), change made: %s', async (harm, told, isDone) => {
  const service = await start({ faults: [`PATCH /inventory/*:first=1:${harm}`] });
  const message = expect.stringMatching(told);
  await expect(service.patch('/inventory/1', SET)).rejects.toMatchObject({ code: 'ECONNRESET', message });
  expect((await service.get('/inventory')).text.includes('{"petId":1,"quantity":4711,')).toBe(isDone);
  expect(service.journal()[0]).toMatchObject({ method: 'PATCH', status: null, ...(isDone && { body: SET }) });
});

test('does not respond with the fault hang, and closes the service without waiting', async () => {
  const service = await start({ faults: ['PATCH /inventory/*:hang'] });
  const ended = expect(service.patch('/inventory/1', SET)).rejects.toThrow('socket hang up');
  while (service.journal().length === 0) await service.get('/inventory');
  expect((await service.get('/inventory')).text).not.toContain('4711');
  await service.close();
  await ended;
});

describe.each([24, 2_500])('a list of %i pets under a fault', (pets) => {
  const open = (harm: string) => start({ file: temporaryFile(), pets, faults: [`GET /inventory:first=1:${harm}`] });

  test.each([
    ['truncate', /^aborted$|ECONNRESET/],
    ['commit-then-drop', /^socket hang up$/],
  ])('breaks off a list with the fault %s', async (harm, told) => {
    const service = await open(harm);
    const message = expect.stringMatching(told);
    await expect(service.get('/inventory')).rejects.toMatchObject({ code: 'ECONNRESET', message });
    expect((await service.get('/inventory')).json).toHaveLength(pets);
  });

  test('sends a list in invalid JSON with the fault malform', async () => {
    const service = await open('malform');
    const answer = await service.get('/inventory');
    expect([answer.status, answer.json, answer.text.slice(0, 10)]).toEqual([200, undefined, '<{"petId":']);
    expect((await service.get('/inventory')).json).toHaveLength(pets);
  });
});

test('omits the headers that the fault without= lists', async () => {
  const service = await start({ faults: ['*:without=X-RateLimit-Remaining,date,content-type'] });
  const { headers } = await service.get('/inventory');
  expect(headers['x-ratelimit-remaining'] ?? headers.date ?? headers['content-type']).toBeUndefined();
  expect(headers['x-ratelimit-limit']).toBe('1000');
});

test('draws delays from the range of a delay fault, and the same delays for the same seed', () => {
  const delays = (fault: string) => {
    const faults = new FaultSet([fault]);
    return Array.from({ length: 100 }, () => faults.draw('GET', '/inventory').delayMs);
  };
  expect(new Set(delays('*:delay=100-103'))).toEqual(new Set([100, 101, 102, 103]));
  const [one, same, other] = [7, 7, 8].map((seed) => delays(`*:p=1:seed=${seed}:delay=0-9`));
  expect(same).toEqual(one);
  expect(other).not.toEqual(one);
});

test('delays only the requests that match a delay fault', async () => {
  const service = await start({ faults: ['GET /pets/1:delay=3600000', 'GET /pets/2:delay=1-9:status=500'] });
  const hangup = new AbortController();
  const headers = { Authorization: `Bearer ${service.key}` };
  const delayed = fetch(`${service.url}/pets/1`, { headers, signal: hangup.signal });
  const outcomesMeanwhile = [outcome(await service.get('/inventory')), outcome(await service.get('/pets/2'))];
  expect(outcomesMeanwhile).toEqual(['200', '500 injected_fault']);
  hangup.abort();
  await expect(delayed).rejects.toThrow(/abort/);
});

test("replaces all faults with setFaults, but keeps them if a new fault can't be read", async () => {
  const service = await start({ faults: ['*:status=503'] });
  expect(() => service.setFaults(['*:status=500', '*:nonsense'])).toThrow(FaultSpecError);
  expect(await outcomes(service, 1)).toEqual(['503 injected_fault']);
  service.setFaults([]);
  expect(await outcomes(service, 1)).toEqual(['200']);
});
