import { expect, onTestFinished } from 'vitest';

import { openDatabase, retryWhileBusy } from '../../src/service/storage/sqlite/database.ts';
import { GroupCommit } from '../../src/service/storage/sqlite/group-commit.ts';
import { sqlite } from '../../src/shared/sqlite-engine.ts';
import { start, temporaryFile, test } from './support.ts';

const { DatabaseSync } = sqlite();

/** Creates a table of words, with functions that add a word and that return the committed words. */
function openWords() {
  const file = temporaryFile();
  const database = openDatabase(file);
  const other = new DatabaseSync(file);
  onTestFinished(() => {
    database.close();
    other.close();
  });
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE words (word TEXT UNIQUE)');
  const insert = database.prepare('INSERT INTO words VALUES (?)');
  return {
    database,
    commits: new GroupCommit(database),
    add: (word: string) => () => {
      insert.run(word);
      return word;
    },
    undoAll: (): never => {
      database.exec('ROLLBACK');
      throw new Error('the disk is full');
    },
    committed: () => other.prepare('SELECT group_concat(word) AS words FROM words').get().words,
    other,
  };
}

test('commits the work of one turn together, and returns no result before the commit', async () => {
  const { commits, add, committed } = openWords();
  const told = ['a', 'b', 'c'].map((word) =>
    commits.run(() => {
      const added = add(word)();
      expect(committed()).toBeNull();
      return added;
    }),
  );
  const seen = await Promise.all(told.map(async (result) => [await result, committed()]));
  expect(seen).toEqual(['a', 'b', 'c'].map((word) => [word, 'a,b,c']));
});

test.each([
  ['commits the other work of a turn if one piece of it fails', 'add', { name: 'StorageError' }],
  ['repeats the other work of a turn if one piece rolls everything back', 'undoAll', { message: 'the disk is full' }],
] as const)('%s', async (_what, culprit, reason) => {
  const words = openWords();
  const works = [words.add('a'), culprit === 'add' ? words.add('a') : words.undoAll, words.add('b')];
  const results = await Promise.allSettled(works.map((work) => words.commits.run<string>(work)));
  expect(results).toMatchObject([{ value: 'a' }, { status: 'rejected', reason }, { value: 'b' }]);
  expect(words.committed()).toBe('a,b');
});

test('rolls back work that fails after its first statement', async () => {
  const { commits, add, committed } = openWords();
  const half = () => {
    add('half')();
    throw new Error('the second statement failed');
  };
  const results = await Promise.allSettled([commits.run(add('a')), commits.run(half), commits.run(add('b'))]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(committed()).toBe('a,b');
});

test('commits nothing if the check under the lock fails', async () => {
  const { database, add, committed } = openWords();
  const commits = new GroupCommit(database, () => {
    expect(database.isTransaction).toBe(true);
    throw new Error('it is of a later version');
  });
  await expect(commits.run(add('a'))).rejects.toThrow('it is of a later version');
  expect([database.isTransaction, committed()]).toEqual([false, null]);
});

test('commits work in a later turn if it was begun after an earlier commit', async () => {
  const { commits, add, committed } = openWords();
  await commits.run(add('a')).then(() => commits.run(add('b')));
  await commits.idle();
  expect(committed()).toBe('a,b');
});

test('answers other requests while another connection locks the file, and then makes the change', async ({ file }) => {
  const service = await start({ file, adminPort: 0 });
  const health = () => service.admin('GET', '/health');
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  const update = service.patch('/inventory/1', '{"quantity":4711}');
  while (service.journal().length === 0) await health();
  for (let asked = 0; asked < 5; asked++) expect((await health()).status).toBe(200);
  other.exec('UPDATE pets SET quantity = 4712 WHERE id = 2');
  other.exec('COMMIT');
  other.close();
  expect((await update).status).toBe(200);
  const { text } = await service.get('/inventory');
  expect(text).toContain('{"petId":1,"quantity":4711,');
  expect(text).toContain('{"petId":2,"quantity":4712,');
});

test('throws a StorageError if every attempt finds the database locked, but lets a group commit wait', async () => {
  const { commits, add, other } = openWords();
  other.exec('BEGIN IMMEDIATE');
  const database = openDatabase(other.location() ?? '');
  onTestFinished(() => database.close());
  await expect(retryWhileBusy(() => database.exec('BEGIN IMMEDIATE'), [0, 0])).rejects.toMatchObject({
    name: 'StorageError',
    message: 'database is locked',
  });
  const waiting = commits.run(add('a'));
  other.exec('COMMIT');
  expect(await waiting).toBe('a');
});
