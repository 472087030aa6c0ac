import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FailureError, failureText, UnavailableError } from '../../src/shared/errors.ts';
import { quoted } from '../../src/shared/parsed.ts';
import { plainName } from '../../src/shared/sanitize.ts';
import { isBusy, retryBusy, sqliteCodeOf, takeLock } from '../../src/shared/sqlite-engine.ts';
import { newFolder } from '../support/new-folder.ts';

test.each<[unknown, string]>([
  [new FailureError('The file is gone'), 'the file is gone'],
  [new UnavailableError('Words', { status: 503 }), 'the service returned 503'],
  [
    new UnavailableError('Words', { status: 503, serviceError: { code: 'c', message: '', status: 503 } }),
    'the service returned 503',
  ],
  [
    new UnavailableError('Words', { status: 503, serviceError: { code: 'c', message: 'a "b"', status: 503 } }),
    'the service returned 503 ("a \\"b\\"")',
  ],
  ...[200, 201].map((length): [unknown, string] => [
    new UnavailableError('Words', {
      status: 503,
      serviceError: { code: 'c', message: 'w'.repeat(length), status: 503 },
    }),
    `the service returned 503 ("${'w'.repeat(200)}${length > 200 ? '…' : ''}")`,
  ]),
  [new Error('A bug'), 'A bug'],
  ['a word', 'a word'],
])('describes %s as a clause: %s', (error, words) => expect(failureText(error)).toBe(words));

test.each([
  ['a', '"a"'],
  ['x'.repeat(40), `"${'x'.repeat(40)}"`],
  ['x'.repeat(41), `"${'x'.repeat(39)}…"`],
  ['😀'.repeat(40), `"${'😀'.repeat(40)}"`],
  ['😀'.repeat(41), `"${'😀'.repeat(39)}…"`],
  ['a\u202eb\n', '"a<U+202E>b<U+000A>"'],
])('quotes %j as %s', (text, shown) => expect(quoted(text)).toBe(shown));

const sqlite = (message: string, errcode?: unknown) =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', ...(errcode === undefined ? {} : { errcode }) });
test.each<[unknown, number | undefined, boolean]>([
  [sqlite('x', 5), 5, true],
  [sqlite('x', 261), 5, true],
  [sqlite('x', 6), 6, true],
  [sqlite('x', 13), 13, false],
  [sqlite('database is locked'), 5, true],
  [sqlite('database or disk is full'), 13, false],
  [sqlite('x'), undefined, false],
  [new Error('database is locked'), undefined, false],
  ['database is locked', undefined, false],
])('reads the SQLite code of %s as %s, busy: %s', (error, code, busy) => {
  expect(sqliteCodeOf(error)).toBe(code);
  expect(isBusy(error)).toBe(busy);
});

test.each([
  ['returns a result once the lock is released', 2, [1, 2, 3], 'done', [1, 2]],
  ['throws the error of a lock that is not released within all pauses', 9, [1, 2], 'busy', [1, 2]],
  ['throws another error without a second try', -1, [1, 2], 'broken', []],
])('%s', async (_what, failures, pauses, end, slept) => {
  const sleeps: number[] = [];
  let tries = 0;
  const work = () => {
    tries += 1;
    if (failures < 0) throw new Error('broken');
    if (tries <= failures) throw new Error('busy');
    return 'done';
  };
  const sleep = async (ms: number) => sleeps.push(ms);
  const isLocked = (error: unknown) => (error as Error).message === 'busy';
  expect(await retryBusy(work, pauses, sleep, isLocked).catch(({ message }) => message)).toBe(end);
  expect(sleeps).toEqual(slept);
});

test('waits for a lock that another process has, as long as the caller says', () => {
  const file = join(newFolder(), 'lock');
  const lock = takeLock(file);
  const began = performance.now();
  expect(() => takeLock(file, 20)).toThrow('locked');
  expect(performance.now() - began).toBeGreaterThan(15);
  lock.close();
  takeLock(file).close();
});

test('shortens a name only if it is longer than the maximum', () => {
  const longest = plainName('x'.repeat(10_000)).length;
  expect(plainName('x'.repeat(longest))).toBe('x'.repeat(longest));
  expect(plainName('x'.repeat(longest + 1))).toBe(`${'x'.repeat(longest - 1)}…`);
});
