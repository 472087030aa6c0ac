import { expect, test } from 'vitest';
import { sqlite } from '../../src/shared/sqlite-engine.ts';
import { outcome, rate, start, temporaryFile } from './support.ts';

const { DatabaseSync } = sqlite();

test('the absolute form of a request target is understood', async () => {
  const service = await start();
  const answer = await service.raw(
    `GET http://pets.example/v1/inventory HTTP/1.1\r\nHost: pets.example\r\nAuthorization: Bearer ${service.key}\r\nConnection: close\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1.1 200 OK/);
});

test('HEAD has the status and headers of GET and no body, and is charged', async () => {
  const service = await start();
  const get = await service.get('/inventory');
  const head = await service.call('HEAD', '/inventory');
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers['content-length']).toBe(get.headers['content-length']);
  expect(rate(head)).toMatch(/^1000\/998\//);
});

test('HEAD of a list of several pages leaves no snapshot behind', async () => {
  const file = temporaryFile();
  const service = await start({ file, pets: 2_500 });
  for (let time = 0; time < 5; time++) expect((await service.call('HEAD', '/inventory')).status).toBe(200);
  const database = new DatabaseSync(file);
  expect(database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()).toMatchObject({ busy: 0 });
  database.close();
});

test('GET /pets/{petId} is deprecated on a 429 and an injected 503 too, and no other operation is', async () => {
  const service = await start({ limits: { minute: 2, day: 9 }, faults: ['GET /pets/*:status=503'] });
  const answers = [await service.get('/pets/1'), await service.get('/inventory'), await service.get('/pets/1')];
  expect(answers.map(outcome)).toEqual(['503 injected_fault', '200', '429 rate_limited']);
  expect(answers.map(({ headers }) => headers.sunset !== undefined)).toEqual([true, false, true]);
});
