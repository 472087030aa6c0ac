import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import path, { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { parseCommandLine } from '../../src/settings/command-line.ts';
import { readConfig } from '../../src/settings/config-file.ts';
import { InterruptedError } from '../../src/shared/errors.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { openShop, type Shop, test as shopTest, withEnv } from '../support/shop.ts';

interface KeyShop extends Shop {
  /** Makes a program in the shop's own folder of programs. */
  program(name: string, script: string): void;
  log(): string;
  /** Resolves once a program has written to the log. */
  started(): Promise<void>;
}

/** A shop whose key no variable holds, and programs that may print one. */
async function keyShop(): Promise<KeyShop> {
  const shop = await openShop();
  const bin = join(shop.folders.config, '..', 'bin');
  const log = join(bin, 'log');
  mkdirSync(bin, { recursive: true });
  writeFileSync(log, '');
  const variables = { PETSTOCK_API_KEY_STAGING: undefined, PATH: `${bin}:/usr/bin:/bin`, LOG: log };
  return {
    ...withEnv(shop, variables),
    program: (name, script) => {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    },
    log: () => readFileSync(log, 'utf8'),
    started: async () => {
      const watcher = watch(log);
      if (readFileSync(log).length === 0) await once(watcher, 'change');
      watcher.close();
    },
  };
}

const test = shopTest.extend('shop', keyShop);
const store = (command: string, ...flags: string[]) => ['config', 'set-key', '--command', command, ...flags];

describe('a key that a command prints', () => {
  test('is asked for once a command, and not stored', async ({ shop }) => {
    shop.program('show-key', `echo "$1" >> "$LOG"; echo ' ${shop.service.key} '`);
    expect(await shop.run(store("show-key 'of the shop'"))).toMatchObject({ code: 0 });
    expect(readFileSync(join(shop.folders.config, 'config.json'), 'utf8')).not.toContain(shop.service.key);
    expect(shop.log()).toBe('');
    const adjusted = await shop.run('inventory adjust 4 +1');
    expect(adjusted.code).toBe(0);
    expect(adjusted.requests).toHaveLength(2);
    expect(shop.log()).toBe('of the shop\n');
  });

  test('takes the place of a stored key, and a stored key its place', async ({ shop }) => {
    shop.program('show-key', `echo ${shop.service.key}`);
    await shop.run('config set-key', { stdin: 'psk_old_old_old_1' });
    await shop.run(store('show-key'));
    expect(readConfig(shop.folders.config).config).toMatchObject({ keys: {}, keyCommands: { staging: {} } });
    expect((await shop.run('inventory list')).code).toBe(0);
    await shop.run('config set-key', { stdin: 'psk_new_new_new_1' });
    expect(readConfig(shop.folders.config).config.keyCommands).toEqual({});
    expect((await shop.run('inventory list')).code).toBe(4);
  });

  test('a variable goes before it, and nothing is run', async ({ shop }) => {
    shop.program('show-key', 'echo run >> "$LOG"');
    await shop.run(store('show-key'));
    const env = { PETSTOCK_API_KEY: shop.service.key };
    expect((await shop.run('inventory list', { env })).code).toBe(0);
    expect(shop.log()).toBe('');
  });

  test.each([
    ['echo psk_secret_on_stdout; echo psk_secret_on_stderr >&2; exit 3', 'ended with exit code 3'],
    ['echo psk_secret_on_stdout and more words', 'printed something that is not a key'],
    ['true', 'printed something that is not a key (the key is empty)'],
    ['kill -9 $$', 'was ended by SIGKILL'],
    ['head -c 200000 /dev/zero', 'printed more than a key can have'],
  ])('one that fails (%j) is named, and its output never shown', async (script, words) => {
    const shop = await keyShop();
    shop.program('show-key', script);
    await shop.run(store('show-key one'));
    for (const format of ['', ' --json', ' --debug']) {
      const answer = await shop.run(`inventory set 4 7${format}`);
      expect(answer).toMatchObject({ code: 4, requests: [], stdout: '' });
      expect(answer.stderr).toContain(words);
      expect(answer.stderr).toContain('show-key one');
      expect(answer.stderr).not.toContain('secret');
    }
  });

  test('one that is not there is said so', async ({ shop }) => {
    await shop.run(store('no-such-program lookup x'));
    const answer = await shop.run('inventory list');
    expect(answer).toMatchObject({ code: 4, requests: [] });
    expect(answer.stderr).toContain('The key command names a program that does not exist: no-such-program lookup x');
    expect(answer.stderr).toContain('Hint: petstock config set-key --env staging');
  });

  test('what it says on stderr is shown as foreign text: bounded, without control characters or keys', async ({
    shop,
  }) => {
    const message = String.raw`\033[2JTouch the key\nError: psk_0123456789abcdef\n\nlast`;
    shop.program('show-key', `printf '${message}' >&2; yes x | head -c 90000 >&2; echo ${shop.service.key}`);
    await shop.run(store('show-key'));
    const { code, stderr } = await shop.run('inventory get 4 -q');
    expect(code).toBe(0);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.slice(0, 3)).toEqual(['│ Touch the key', '│ Error: [not shown]', '│ lastx']);
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('│ …');
  });

  test('a relative program becomes absolute when it is stored', async ({ shop }) => {
    const folder = path.relative('.', path.join(shop.folders.config, '..', 'bin'));
    shop.program('show key', `echo ${shop.service.key}`);
    await shop.run(store(`'${folder}/show key' one`));
    const file = path.resolve(folder, 'show key');
    expect(readConfig(shop.folders.config).config.keyCommands?.staging?.command).toBe(`'${file}' one`);
    expect((await shop.run('inventory get 4')).code).toBe(0);
    writeFileSync(
      path.join(shop.folders.config, 'config.json'),
      JSON.stringify({ keyCommands: { staging: { command: './show-key' } }, urls: { staging: shop.service.url } }),
    );
    const byHand = await shop.run('inventory get 4');
    expect(byHand).toMatchObject({ code: 4, requests: [] });
    expect(byHand.stderr).toContain('names its program by a relative path');
  });

  test.for(['', '.', './bin', 'bin'])('relative entries of PATH do not count (%j)', async (entry, { shop }) => {
    const name = 'petstock-test-show-key';
    const here = path.resolve(name);
    writeFileSync(here, '#!/bin/sh\necho psk_of_this_folder\n', { mode: 0o755 });
    onTestFinished(() => rmSync(here));
    await shop.run(store(name));
    const env = { PATH: `${entry}:/usr/bin:/bin` };
    const answer = await shop.run('inventory get 4', { env });
    expect(answer).toMatchObject({ code: 4, requests: [] });
    expect(answer.stderr).toContain('names a program that does not exist');
    await shop.run(store(`${name} | cat`, '--shell'));
    expect(await shop.run('inventory get 4', { env })).toMatchObject({ code: 4, requests: [] });
  });

  test('one that hangs is ended', async ({ shop }) => {
    shop.program('show-key', 'echo started >> "$LOG"; exec sleep 600');
    await shop.run(store('show-key'));
    const answer = shop.run('inventory list');
    await shop.started();
    shop.clock.expireDeadlines();
    expect(await answer).toMatchObject({ code: 4, requests: [] });
    expect((await answer).stderr).toContain('did not end within 60 s');
  });

  test('Ctrl-C ends it', async ({ shop }) => {
    shop.program('show-key', 'echo started >> "$LOG"; exec sleep 600');
    await shop.run(store('show-key'));
    const controller = new AbortController();
    const answer = shop.run('inventory set 4 7', { interrupted: controller.signal });
    await shop.started();
    controller.abort(new InterruptedError('Interrupted'));
    expect(await answer).toMatchObject({ code: 130, requests: [] });
  });

  test('goes to the origin that it was stored for alone, and is not run for another', async ({ shop }) => {
    shop.program('show-key', 'echo run >> "$LOG"; echo psk_abcdefgh');
    await shop.run(store('show-key'));
    const env = { PETSTOCK_URL_STAGING: 'http://127.0.0.2:9/v1' };
    expect(await shop.run('inventory list', { env })).toMatchObject({ code: 4, requests: [] });
    expect(shop.log()).toBe('');
  });

  test('what only shows the configuration runs nothing', async ({ shop }) => {
    shop.program('show-key', 'echo run >> "$LOG"; echo psk_abcdefgh');
    await shop.run(store('show-key'));
    for (const command of ['config list', 'config get key', 'status --offline', 'limits', 'history list']) {
      await shop.run(command);
    }
    expect((await shop.run('config get key')).stdout).toBe('show-key\n');
    expect(shop.log()).toBe('');
  });

  test('it gets no key or password of petstock from the environment', async ({ shop }) => {
    shop.program('show-key', `env | grep -c 'not_for_others' >> "$LOG"; echo ${shop.service.key}`);
    await shop.run(store('show-key'));
    const url = 'postgresql://ann:not_for_others@127.0.0.1:1/pets';
    const hidden = {
      PETSTOCK_STATE_URL: url,
      PETSTOCK_SERVE_DATABASE: url,
      PETSTOCK_SERVE_ADMIN_TOKEN: 'not_for_others',
    };
    const key = { PETSTOCK_API_KEY_PRODUCTION: 'psk_not_for_others', PETSTOCK_SERVE_KEY: 'not_for_others' };
    await shop.run('inventory list', { env: { ...hidden, ...key, HOME: '/nowhere' } });
    expect(shop.log()).toBe('0\n');
  });

  test('a shell runs it only where that was asked for', async ({ shop }) => {
    expect(await shop.run(store('show-key | head -1'))).toMatchObject({ code: 2 });
    expect((await shop.run(store('show-key | head -1'))).stderr).toContain('"|" is for a shell');
    shop.program('show-key', `echo ${shop.service.key}; echo second`);
    expect(await shop.run(store('show-key | head -1', '--shell'))).toMatchObject({ code: 0 });
    expect((await shop.run('inventory list')).code).toBe(0);
    expect((await shop.run('config set-key --shell')).code).toBe(2);
  });

  test('of a shell it is the program that it begins with, and nothing else is looked for in the current folder', async ({
    shop,
  }) => {
    const folder = path.relative('.', path.join(shop.folders.config, '..', 'bin'));
    shop.program('show-key', `echo ${shop.service.key}`);
    await shop.run(store(`${folder}/show-key | cat`, '--shell'));
    expect(readConfig(shop.folders.config).config.keyCommands?.staging?.command).toBe(
      `${path.resolve(folder, 'show-key')} | cat`,
    );
    expect((await shop.run('inventory get 4')).code).toBe(0);
    await shop.run(store('cat package.json', '--shell'));
    expect((await shop.run('inventory get 4')).stderr).toContain('ended with exit code 1');
  });
});

describe('the words of a command', () => {
  test.each<[string, readonly string[]]>([
    ['pass show petstock', ['pass', 'show', 'petstock']],
    [`a 'b c' "d \\"e\\"" f\\ g`, ['a', 'b c', 'd "e"', 'f g']],
    [String.raw`C:\tools\op.exe read op://x/y`, [String.raw`C:\tools\op.exe`, 'read', 'op://x/y']],
    [`"C:\\Program Files\\op.exe" x`, [String.raw`C:\Program Files\op.exe`, 'x']],
    [`a '' b`, ['a', '', 'b']],
    [`--field='a b'c`, ['--field=a bc']],
  ])('%j', (text, words) => {
    expect(parseCommandLine(text)).toEqual({ ok: true, value: words });
  });

  test.each([
    '',
    '   ',
    `''`,
    `'open`,
    `"open`,
    'a | b',
    'a > b',
    'a; b',
    'a $HOME',
    'a `b`',
    '~/bin/x',
    'a *',
    'a (b)',
  ])('%j is a fault', (text) => {
    expect(parseCommandLine(text).ok).toBe(false);
  });

  const word = fc.string({ minLength: 1, unit: 'grapheme' });

  property("any words survive a shell's quoting", [fc.array(word, { minLength: 1 })], (words) => {
    const quoted = words.map((text) => `'${text.replaceAll("'", `'"'"'`)}'`).join(' ');
    expect(parseCommandLine(quoted)).toEqual({ ok: true, value: words });
  });
});
