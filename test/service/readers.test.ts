import { expect, onTestFinished, test } from 'vitest';
import { openStorage, seededStock } from '../../src/service/index.ts';
import { Readers } from '../../src/service/storage/postgres/readers.ts';
import { temporaryDatabase } from '../support/postgres.ts';

test('reserves connections for lists of another key while one key reads slowly', async () => {
  const database = await temporaryDatabase();
  const storage = await openStorage({ database, clock: Date, stock: seededStock({ pets: 2_500 }) });
  onTestFinished(() => storage.close());
  const slow = Array.from({ length: 12 }, () => storage.inventory('one'));
  const began: number[] = [];
  const firstPages = slow.map((reader, at) => reader.next().then(() => began.push(at)));
  await Promise.all(firstPages.slice(0, 5));
  const pages: string[] = [];
  for await (const page of storage.inventory('another')) pages.push(page);
  expect(JSON.parse(`[${pages.join()}]`)).toHaveLength(2_500);
  expect(began).toHaveLength(5);
  for (const reader of slow) await reader.return();
  await Promise.all(firstPages);
});

test('gives a key at most half of the readers, and fails after a time-out if it asks for more', async () => {
  const readers = new Readers(10, 50);
  const began: string[] = [];
  const asked = (who: string) =>
    readers.acquire(who).then((release) => {
      began.push(who);
      return release;
    });
  const first = await Promise.all([...'aaaaa'].map(asked));
  const late = asked('a');
  const others = await Promise.all([...'bbb'].map(asked));
  expect(began.join('')).toBe('aaaaabbb');
  for (const release of first) release();
  const release = await late;
  expect(began.join('')).toBe('aaaaabbba');
  for (const one of [...others, release]) one();
  await Promise.all([...'ccccc'].map(asked));
  await expect(asked('c')).rejects.toThrow('Too many lists');
});
