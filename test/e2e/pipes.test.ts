import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasFullDevice, hasGnuTail, mountNamespace } from '../support/capabilities.ts';
import { runProgram, serve, startProgram, temporaryHome } from '../support/program.ts';

const rateLimitOnly = /^(Rate limit: .*\n)?$/;

test('ends a long list, an export to /dev/stdout and a help quietly if the reader exits early', async () => {
  const { env } = await serve({ pets: 50000 });
  for (const format of ['tsv', 'table']) {
    const program = startProgram(`inventory list -o ${format}`, { env });
    await program.until('stdout', '1');
    program.hangUp('stdout');
    const { code, signal, stdout, stderr } = await program.result;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(stderr).toMatch(rateLimitOnly);
    expect(stdout.length).toBeLessThan(500_000);
  }
  for (const [command, reader] of [
    ['inventory export /dev/stdout', '| head -1'],
    ['inventory apply --help', '| :'],
  ] as const) {
    const through = ['bash', '-c', `"$@" ${reader}; exit "$PIPESTATUS"`, 'bash'];
    const stderr = expect.stringMatching(rateLimitOnly);
    expect(await runProgram(command, { env, through })).toMatchObject({ code: 0, stderr });
  }
});

test.runIf(hasGnuTail)('ends watch quietly once its reader has exited, without a further change', async () => {
  const { env } = await serve();
  const home = temporaryHome();
  const through = ['bash', '-c', '"$@" | head -1; exit "$PIPESTATUS"', 'bash'];
  const program = startProgram('inventory watch --interval 0.2', { env, home, through });
  await program.until('stderr', 'Watching 24 pets');
  await runProgram('inventory set 4 12', { env, home });
  expect(await program.result).toMatchObject({ code: 0, signal: null, stderr: expect.not.stringContaining('Error') });
});

test('ends watch quietly at its next line if nothing tells that its reader has exited', async () => {
  const { env } = await serve();
  const home = temporaryHome();
  const program = startProgram('inventory watch --interval 0.2', { env, home });
  await program.until('stderr', 'Watching 24 pets');
  program.hangUp('stdout');
  await runProgram('inventory set 4 12', { env, home });
  expect(await program.result).toMatchObject({ code: 0, signal: null, stderr: expect.not.stringContaining('Error') });
});

test('prints what watch finds to a reader that reads on', async () => {
  const { env } = await serve();
  const through = ['bash', '-c', '"$@" | cat; exit "$PIPESTATUS"', 'bash'];
  const program = startProgram('inventory watch --now --first --for 1.5 --interval 0.2 -o csv', { env, through });
  const { code, stdout } = await program.result;
  expect({ code, lines: stdout.split('\n').length }).toEqual({ code: 3, lines: 26 });
});

test('writes a change even if nobody reads stderr', async () => {
  const { env, journal } = await serve();
  const program = startProgram('inventory set 1 77 --json', { env });
  program.hangUp('stderr');
  const { code, stdout } = await program.result;
  expect({ code, item: JSON.parse(stdout || 'null') }).toMatchObject({ code: 0, item: { petId: 1, quantity: 77 } });
  expect(journal().map(({ method, body }) => ({ method, body }))).toEqual([
    { method: 'PATCH', body: '{"quantity":77}' },
  ]);
});

test('exits with 0 if stdout is closed', async () => {
  const through = ['sh', '-c', 'exec "$@" >&-', 'sh'];
  const { code, stderr } = await runProgram('--env sandbox inventory list', { through });
  expect(code).toBe(0);
  expect(stderr).toMatch(rateLimitOnly);
});

const commands = ['--env sandbox inventory list', 'inventory list --help'];

test.runIf(hasFullDevice).each(commands)('exits with 1 on a full disk: %s', async (command) => {
  const through = ['sh', '-c', 'exec "$@" >/dev/full', 'sh'];
  const { code, stderr } = await runProgram(command, { through });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Error: The disk is full. Free some space and try again\.$/m);
  expect(stderr).not.toMatch(/defect|\n {4}at /);
});

test.runIf(mountNamespace !== undefined)(
  'keeps the configuration if the disk fills up while a setting is written',
  async () => {
    const home = temporaryHome();
    const [before, after] = [join(home.folder, 'before.json'), join(home.folder, 'after.json')];
    const url = { urls: { staging: 'https://x.example/v1' } };
    const stores = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`store${index}`, url]));
    writeFileSync(before, JSON.stringify({ keys: { staging: 'psk_abcdefghijkl' }, stores }), { mode: 0o600 });
    mkdirSync(home.config, { mode: 0o700 });
    // The disk has room for the file and its lock, but only for a part of the new file.
    const script = `mount -t tmpfs -o size=16k,mode=700 none ${home.config} && cp -p ${before} ${home.config}/config.json
"$@"; code=$?; cat ${home.config}/config.json > ${after}; ls ${home.config} >&2; exit $code`;
    const through = [...(mountNamespace ?? []), 'sh', '-c', script, 'sh'];
    const { code, stderr } = await runProgram('config set low-stock 3', { home, through });
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the disk accepted only a part of it. It was not changed.'),
    });
    expect(stderr).not.toContain('config.json.before');
    expect(readFileSync(after, 'utf8')).toBe(readFileSync(before, 'utf8'));
  },
);

test('replaces the configuration file instead of overwriting it, even with SNAP set', async () => {
  const home = temporaryHome();
  const config = () => statSync(join(home.config, 'config.json')).ino;
  await runProgram('config set low-stock 3', { home });
  const before = config();
  await runProgram('config set low-stock 4', { home, env: { SNAP: '/snap/code/1' } });
  expect(config()).not.toBe(before);
});

test.runIf(hasFullDevice)('prints the whole result if stderr is on a full disk', async () => {
  const through = ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh'];
  const { signal, stdout } = await runProgram('--env sandbox inventory list', { through });
  expect(signal).toBe(null);
  expect(stdout.split('\n').slice(0, -1)).toHaveLength(24);
});
