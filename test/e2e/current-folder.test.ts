import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, serve, temporaryHome } from '../support/program.ts';

/** The files that JavaScript runtimes read from the current folder, each with a trap. */
const trap = 'require("node:fs").writeFileSync("trapped", ""); console.log("trapped");';
const files: Readonly<Record<string, string>> = {
  '.env': 'PETSTOCK_URL_STAGING=http://127.0.0.1:9/v1\nPETSTOCK_API_KEY_STAGING=psk_OfAStranger0123456789\n',
  '.env.local': 'PETSTOCK_URL_STAGING=http://127.0.0.1:9/v1\n',
  '.env.production': 'PETSTOCK_URL_STAGING=http://127.0.0.1:9/v1\n',
  'bunfig.toml': 'preload = ["./trap.cjs"]\n[run]\npreload = ["./trap.cjs"]\n',
  'package.json': '{"type":"module","main":"./trap.cjs","imports":{"#*":"./trap.cjs"}}',
  'tsconfig.json': '{"compilerOptions":{"paths":{"*":["./trap.cjs"]}}}',
  'trap.cjs': trap,
  'node_modules/@photostructure/sqlite/index.js': trap,
  'node_modules/pg-native/index.js': trap,
};

function folderOfStranger() {
  const folder = join(temporaryHome().folder, 'stranger');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return { through: ['sh', '-c', `cd '${folder}' && exec "$@"`, 'sh'] };
}

test('reads no address, key or program from files in the current folder', async () => {
  const { through } = folderOfStranger();
  const { code, stdout, stderr } = await runProgram('config list --json', { through });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).not.toMatch(/127\.0\.0\.1|6789|trapped/);
  const list = await runProgram('inventory list', { through });
  expect(list).toMatchObject({ code: 2, stderr: expect.stringContaining('petstock config set-url') });
  const { env } = await serve();
  const get = await runProgram('inventory get 4', { through, env });
  expect(get).toMatchObject({ code: 0, stdout: '4\t39\tavailable\n' });
});

test('refuses a relative state folder without sending a request', async () => {
  const { through } = folderOfStranger();
  const { env, journal } = await serve();
  const result = await runProgram('inventory adjust 4 +1', { through, env: { ...env, PETSTOCK_STATE_DIR: 'state' } });
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toContain('PETSTOCK_STATE_DIR must be an absolute path');
  expect(journal()).toEqual([]);
});
