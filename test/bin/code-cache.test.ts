import fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codeCacheIn } from '../../bin/code-cache.ts';
import { newFolder } from '../support/new-folder.ts';

const script = 'exports.answer = () => 42;\n';

/** Returns a script, and the folder for its cache, which does not exist yet. */
function openCase() {
  const folder = newFolder();
  const [file, caches] = [join(folder, 'script.cjs'), join(folder, 'a', 'b')];
  fs.writeFileSync(file, script);
  const run = (...facts: readonly string[]) => {
    const cache = codeCacheIn(caches, facts);
    const compiled = cache.compile(file);
    const module = { exports: {} as { answer(): number } };
    compiled.runInThisContext()(module.exports);
    const answer = module.exports.answer();
    cache.keep();
    return { answer, isKept: compiled.cachedDataRejected === false };
  };
  const kept = () => fs.readdirSync(caches).map((name) => join(caches, name));
  return { file, caches, run, kept };
}

test('keeps compiled code for the next run, in a folder that only its user can open', () => {
  const { caches, run } = openCase();
  expect([run(), run()]).toEqual([
    { answer: 42, isKept: false },
    { answer: 42, isKept: true },
  ]);
  expect(fs.statSync(caches).mode & 0o777).toBe(0o700);
  expect(fs.readdirSync(caches)).toHaveLength(1);
});

test('recompiles a script after its replacement by another of the same length and time', () => {
  const { file, run } = openCase();
  run();
  const { atime, mtime } = fs.statSync(file);
  fs.writeFileSync(file, script.replace('42', '43'));
  fs.utimesSync(file, atime, mtime);
  expect(run()).toEqual({ answer: 43, isKept: false });
});

test('uses only code that was compiled under the same conditions', () => {
  const { run } = openCase();
  run('node 20', 'inventory list');
  expect(run('node 22', 'inventory list').isKept).toBe(false);
  expect(run('node 20', 'inventory list').isKept).toBe(true);
});

test('recompiles code that was changed, or in a folder that others can open', () => {
  const { caches, run, kept: all } = openCase();
  run();
  const [kept = ''] = all();
  const bytes = fs.readFileSync(kept);
  for (let at = 0; at < bytes.length; at += 1 + (bytes.length >> 6)) {
    fs.writeFileSync(kept, Buffer.from(bytes).fill((bytes[at] ?? 0) ^ 1, at, at + 1));
    expect([at, run()]).toEqual([at, { answer: 42, isKept: false }]);
  }
  for (const open of [0o750, 0o777]) {
    fs.chmodSync(caches, open);
    const { ino } = fs.statSync(kept);
    expect([run(), fs.statSync(kept).ino]).toEqual([{ answer: 42, isKept: false }, ino]);
  }
  fs.chmodSync(caches, 0o700);
  expect(run().isKept).toBe(true);
});

test('removes the files of a full folder before it writes one', () => {
  const { caches, run, kept } = openCase();
  run();
  const [own = ''] = kept();
  for (let at = 0; at < 96; at += 1) fs.writeFileSync(join(caches, `${at}`), '');
  expect(run('another command').isKept).toBe(false);
  expect([kept().length, kept().includes(own)]).toEqual([1, false]);
});
