import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

test('prepare builds once, and again when a source or the build has changed', { timeout: 60_000 }, () => {
  const { folder, builds, age } = project();
  expect([builds(), builds()]).toEqual([1, 1]);
  age();
  writeFileSync(join(folder, 'src', 'deep', 'one.ts'), 'changed');
  expect([builds(), builds()]).toEqual([2, 2]);
  age();
  rmSync(join(folder, 'src', 'deep', 'two.ts'));
  expect([builds(), builds()]).toEqual([3, 3]);
  age();
  rmSync(join(folder, 'dist', 'petstock.cjs'));
  expect([builds(), builds()]).toEqual([4, 4]);
  rmSync(join(folder, 'dist'), { recursive: true });
  expect(builds()).toBe(5);
  age();
  // The build itself does what an editor might do meanwhile.
  writeFileSync(join(folder, 'edit'), '');
  writeFileSync(join(folder, 'src', 'deep', 'one.ts'), 'changed');
  expect(builds()).toBe(6);
  rmSync(join(folder, 'edit'));
  expect([builds(), builds()]).toEqual([7, 7]);
});

/** A project whose build counts itself. `age` puts all times back, so that a change is newer than the build. */
function project() {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-prepare-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['.ci', 'bin', 'src/deep', 'node_modules/tsup'])
    mkdirSync(join(folder, name), { recursive: true });
  const files = ['package-lock.json', 'tsconfig.json', 'tsup.config.ts', 'src/deep/one.ts', 'src/deep/two.ts'];
  for (const name of [...files, 'node_modules/tsup/package.json']) writeFileSync(join(folder, name), '{}');
  const build = `const fs = require('node:fs');
    fs.appendFileSync('count', 'x');
    fs.mkdirSync('dist', { recursive: true });
    fs.writeFileSync('dist/petstock.cjs', '');
    if (fs.existsSync('edit')) fs.writeFileSync('src/deep/one.ts', 'edited');`;
  writeFileSync(join(folder, 'build.cjs'), build);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts: { build: 'node build.cjs' } }));
  const program = join(folder, '.ci', 'prepare.js');
  copyFileSync(fileURLToPath(new URL('../../../.ci/prepare.js', import.meta.url)), program);
  const stamp = join(folder, 'node_modules', '.cache', 'petstock', 'built');
  const putBack = (path: string, seconds: number) => {
    const time = Date.now() / 1000 - seconds;
    utimesSync(path, time, time);
  };
  return {
    folder,
    builds: () => {
      expect(spawnSync(process.execPath, [program]).status).toBe(0);
      return readFileSync(join(folder, 'count'), 'utf8').length;
    },
    age: () => {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) putBack(join(folder, name), 20);
      writeFileSync(stamp, `${Date.now() - 10_000}`);
      putBack(stamp, 5);
    },
  };
}
