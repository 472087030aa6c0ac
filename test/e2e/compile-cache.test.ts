import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Home, runProgram, serve, temporaryHome } from '../support/program.ts';

/** Node 22.8 and later. */
const nodeKeepsCode = 'enableCompileCache' in module;
const on = { NODE_DISABLE_COMPILE_CACHE: undefined };

test('what Node compiles is kept in the state folder, for its user alone', async () => {
  const { env } = await serve();
  const home = temporaryHome();
  const runs = [];
  for (let run = 0; run < 3; run += 1) runs.push(await runProgram('inventory list', { home, env: { ...env, ...on } }));
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1);
  expect(existsSync(compiled(home))).toBe(nodeKeepsCode);
  expect(filesIn(compiled(home)).length > 10).toBe(nodeKeepsCode);
  if (nodeKeepsCode) expect(statSync(compiled(home)).mode & 0o777).toBe(0o700);
});

test('a file of it that is damaged is not run', async () => {
  const { env } = await serve();
  const home = temporaryHome();
  const list = () => runProgram('inventory list', { home, env: { ...env, ...on } });
  const before = [await list(), await list()];
  for (const file of filesIn(compiled(home))) {
    const bytes = readFileSync(file);
    for (let at = 100; at < bytes.length; at += 997) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    writeFileSync(file, bytes);
  }
  const { code, stdout } = await list();
  expect({ code, stdout }).toEqual({ code: 0, stdout: before[0]?.stdout });
});

test('a folder of it that others can write to is made anew, and that of another version goes', async () => {
  const home = temporaryHome();
  const list = () => runProgram('history list', { home, env: on });
  await list();
  const old = join(home.state, 'compiled', '0.0.1');
  mkdirSync(old, { recursive: true });
  const [own = old] = readdirSync(join(home.state, 'compiled')).map((name) => join(home.state, 'compiled', name));
  writeFileSync(join(own, 'planted'), '');
  chmodSync(own, 0o777);
  expect((await list()).code).toBe(0);
  expect((await list()).code).toBe(0);
  expect(existsSync(join(own, 'planted')) && nodeKeepsCode).toBe(false);
});

test.each([
  ['NODE_DISABLE_COMPILE_CACHE is set', 'history list', { NODE_DISABLE_COMPILE_CACHE: '1' }],
  ['the state folder is not there', 'config path', on],
])('nothing of it is kept where %s', async (_where, command, env) => {
  const home = temporaryHome();
  await runProgram(command, { home, env });
  await runProgram(command, { home, env });
  expect(existsSync(compiled(home))).toBe(false);
});

const compiled = (home: Home) => join(home.state, 'compiled');

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
