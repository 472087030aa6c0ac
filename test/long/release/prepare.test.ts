import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../../support/new-folder.ts';

test('builds again only after a source or the build output has changed', () => {
  const { at, builds, age } = project();
  const change = (name: string) => writeFileSync(at(name), 'changed');
  expect([builds(), builds()]).toEqual([1, 1]);
  age();
  change('src/deep/one.ts');
  expect([builds(), builds()]).toEqual([2, 2]);
  age();
  rmSync(at('src/deep/two.ts'));
  expect([builds(), builds()]).toEqual([3, 3]);
  age();
  rmSync(at('dist/petstock.cjs'));
  expect([builds(), builds()]).toEqual([4, 4]);
  rmSync(at('dist'), { recursive: true });
  expect(builds()).toBe(5);
  age();
  // The build itself changes a source, as someone might while it runs.
  change('edit');
  change('src/deep/one.ts');
  expect(builds()).toBe(6);
  rmSync(at('edit'));
  expect([builds(), builds()]).toEqual([7, 7]);
});

/** Creates a project whose build counts its runs. `age` moves all times back, so that changes are newer. */
function project() {
  const folder = newFolder();
  const at = (name: string) => join(folder, name);
  for (const name of ['.ci', 'bin', 'src/deep', 'test/support/reference', 'node_modules/tsup'])
    mkdirSync(at(name), { recursive: true });
  const files = ['package-lock.json', 'tsconfig.json', 'tsup.config.ts', 'src/deep/one.ts', 'src/deep/two.ts'];
  for (const name of [...files, 'node_modules/tsup/package.json']) writeFileSync(at(name), '{}');
  const build = `const fs = require('node:fs');
    fs.appendFileSync('count', 'x');
    fs.mkdirSync('dist', { recursive: true });
    fs.writeFileSync('dist/petstock.cjs', '');
    if (fs.existsSync('edit')) fs.writeFileSync('src/deep/one.ts', 'edited');`;
  writeFileSync(at('build.cjs'), build);
  writeFileSync(at('package.json'), JSON.stringify({ type: 'module', scripts: { build: 'node build.cjs' } }));
  copyFileSync(new URL('../../../.ci/prepare.js', import.meta.url), at('.ci/prepare.js'));
  const putBack = (path: string, seconds: number) => {
    const time = Date.now() / 1000 - seconds;
    utimesSync(path, time, time);
  };
  return {
    at,
    builds: () => {
      expect(spawnSync(process.execPath, [at('.ci/prepare.js')]).status).toBe(0);
      return readFileSync(at('count'), 'utf8').length;
    },
    age: () => {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) putBack(at(name), 20);
      const stamp = at('node_modules/.cache/petstock/built');
      writeFileSync(stamp, `${Date.now() - 10_000}`);
      putBack(stamp, 5);
    },
  };
}
