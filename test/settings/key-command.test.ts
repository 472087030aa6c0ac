import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { configFile, readConfig } from '../../src/settings/config-file.ts';
import { absoluteShellCommand, parseCommandLine } from '../../src/settings/run-key-command.ts';
import { withoutSecrets } from '../../src/settings/variables.ts';
import { InterruptedError } from '../../src/shared/errors.ts';
import fc, { property } from '../support/properties.ts';
import { openShop, test as shopTest, withEnv } from '../support/shop.ts';

/** Opens a shop whose key is in no variable, with a folder of programs that may print the key. */
async function keyShop() {
  const shop = await openShop();
  const bin = join(shop.folders.config, '..', 'bin');
  const log = join(bin, 'log');
  mkdirSync(bin, { recursive: true });
  writeFileSync(log, '');
  const env = { PETSTOCK_API_KEY_STAGING: undefined, PATH: `${bin}:/usr/bin:/bin`, LOG: log };
  const own = withEnv(shop, env);
  return {
    ...own,
    /** Creates a program, by default `show-key`, in that folder. */
    showsKey: (script = `echo ${shop.service.key}`, name = 'show-key') => {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    },
    /** The path of that folder, relative to the current one. */
    bin: relative('.', bin),
    store: (command = 'show-key', ...flags: string[]) => own.run(['config', 'set-key', '--command', command, ...flags]),
    stored: async () => (await readConfig(shop.folders.config)).config,
    log: () => readFileSync(log, 'utf8'),
    clearLog: () => writeFileSync(log, ''),
    /** Resolves once a program has written to the log. */
    started: async () => {
      const watcher = watch(log);
      if (readFileSync(log).length === 0) await once(watcher, 'change');
      watcher.close();
    },
  };
}

const test = shopTest.extend('shop', keyShop);
const noted = 'echo run >> "$LOG"; echo psk_abcdefgh';

describe('a key command', () => {
  test('runs a key command once per command, and does not store its key', async ({ shop }) => {
    shop.showsKey(`echo "$1" >> "$LOG"; echo ' ${shop.service.key} '`);
    expect(await shop.store("show-key 'of the shop'")).toMatchObject({ code: 0 });
    expect(readFileSync(configFile(shop.folders.config), 'utf8')).not.toContain(shop.service.key);
    expect(shop.log()).toBe('');
    const adjusted = await shop.run('inventory adjust 4 +1');
    expect([adjusted.code, adjusted.requests.length]).toEqual([0, 2]);
    expect(shop.log()).toBe('of the shop\n');
  });

  test('replaces a stored key with a key command, and the other way round', async ({ shop }) => {
    shop.showsKey();
    await shop.run('config set-key', { stdin: 'psk_old_old_old_1' });
    await shop.store();
    expect(await shop.stored()).toMatchObject({ keys: {}, keyCommands: { staging: {} } });
    expect((await shop.run('inventory list')).code).toBe(0);
    await shop.run('config set-key', { stdin: 'psk_new_new_new_1' });
    expect((await shop.stored()).keyCommands).toEqual({});
    expect((await shop.run('inventory list')).code).toBe(4);
    await shop.store();
    expect((await shop.run('config unset-key')).stderr).toContain('Removed the key command of staging from');
    expect((await shop.stored()).keyCommands).toEqual({});
  });

  test('needs no key command to show settings, for another origin, or if a variable has a key', async ({ shop }) => {
    shop.showsKey(noted);
    await shop.store();
    const variable = { env: { PETSTOCK_API_KEY: shop.service.key } };
    expect((await shop.run('inventory list', variable)).code).toBe(0);
    const elsewhere = { env: { PETSTOCK_URL_STAGING: 'http://127.0.0.2:9/v1' } };
    expect(await shop.run('inventory list', elsewhere)).toMatchObject({ code: 4, requests: [] });
    for (const command of ['config list', 'status --offline', 'limits', 'history list']) await shop.run(command);
    expect((await shop.run('config get key')).stdout).toBe('show-key\n');
    expect(shop.log()).toBe('');
  });

  test.for([
    ['echo psk_secret_on_stdout; echo psk_secret_on_stderr >&2; exit 3', 'ended with exit code 3'],
    [
      'echo psk_secret_on_stdout and more words',
      'printed text that is not a key (the key contains white space or more than one line: give the key alone)',
    ],
    ['true', 'printed text that is not a key (the key is empty)'],
    ['kill -9 $$', 'was ended by SIGKILL'],
    ['head -c 200000 /dev/zero', 'printed more text than any key has'],
    [undefined, 'names a program that does not exist'],
  ] as const)('reports why a key command fails (%j), and never shows its output', async ([script, words], { shop }) => {
    if (script !== undefined) shop.showsKey(script);
    await shop.store('show-key one');
    for (const format of ['', ' --debug']) {
      const { code, requests, stdout, stderr } = await shop.run(`inventory set 4 7${format}`);
      expect({ code, requests, stdout }).toEqual({ code: 4, requests: [], stdout: '' });
      expect(stderr).toContain(`The key command ${words}: show-key one. Nothing was sent`);
      expect(stderr).toContain('petstock config set-key --env staging');
      expect(stderr).not.toContain('secret');
    }
  });

  test('quotes the stderr of a key command, without control characters or keys', async ({ shop }) => {
    const message = String.raw`\033[2JTouch the key\nError: API_KEY=psk_0123456789abcdef\n\nlast`;
    shop.showsKey(`printf '${message}' >&2; yes x | head -c 90000 >&2; echo ${shop.service.key}`);
    await shop.store();
    const { code, stderr } = await shop.run('inventory get 4 -q');
    expect(code).toBe(0);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.slice(0, 3)).toEqual(['│ Touch the key', '│ Error: API_KEY=[not shown]', '│ lastx']);
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('│ …');
  });

  test('stores the relative program of a key command with its absolute path', async ({ shop }) => {
    shop.showsKey(undefined, 'show key');
    await shop.store(`'${shop.bin}/show key' one`);
    expect((await shop.stored()).keyCommands?.staging?.command).toBe(`'${resolve(shop.bin, 'show key')}' one`);
    expect((await shop.run('inventory get 4')).code).toBe(0);
    const edited = { keyCommands: { staging: { command: './show-key' } }, urls: { staging: shop.service.url } };
    writeFileSync(configFile(shop.folders.config), JSON.stringify(edited));
    const byHand = await shop.run('inventory get 4');
    expect(byHand).toMatchObject({ code: 4, requests: [] });
    expect(byHand.stderr).toContain('names its program by a relative path');
  });

  test.for(['', './bin'])('ignores relative entries of PATH for a key command (%j)', async (entry, { shop }) => {
    const name = 'petstock-test-show-key';
    const here = resolve(name);
    writeFileSync(here, '#!/bin/sh\necho psk_of_this_folder\n', { mode: 0o755 });
    onTestFinished(() => rmSync(here));
    await shop.store(name);
    const env = { PATH: `${entry}:/usr/bin:/bin` };
    const answer = await shop.run('inventory get 4', { env });
    expect(answer).toMatchObject({ code: 4, requests: [] });
    expect(answer.stderr).toContain('names a program that does not exist');
    await shop.store(`${name} | cat`, '--shell');
    expect(await shop.run('inventory get 4', { env })).toMatchObject({ code: 4, requests: [] });
  });

  test('stops a hanging key command at its time-out or on Ctrl-C', async ({ shop }) => {
    shop.showsKey('echo started >> "$LOG"; exec sleep 600');
    await shop.store();
    const timedOut = shop.run('inventory list');
    await shop.started();
    shop.clock.expireDeadlines();
    expect(await timedOut).toMatchObject({ code: 4, requests: [] });
    expect((await timedOut).stderr).toContain('did not end within 60 s');
    shop.clearLog();
    const controller = new AbortController();
    const stopped = shop.run('inventory set 4 7', { interrupted: controller.signal });
    await shop.started();
    controller.abort(new InterruptedError('Interrupted'));
    expect(await stopped).toMatchObject({ code: 130, requests: [] });
  });

  test('uses the key once the command has ended, though an agent that it started keeps its output open', async ({
    shop,
  }) => {
    shop.showsKey(`sleep 100 & echo $! >> "$LOG"; echo ${shop.service.key}`);
    await shop.store();
    await shop.exits('inventory get 4', 0);
    const agent = Number(shop.log());
    // The agent was not ended with the command that started it.
    expect(process.kill(agent, 'SIGKILL')).toBe(true);
  });

  test('ends on Ctrl-C also what a key command has started', async ({ shop }) => {
    await shop.store('sleep 100 & echo $! >> "$LOG"; wait', '--shell');
    const controller = new AbortController();
    const result = shop.run('inventory get 4', { interrupted: controller.signal });
    await shop.started();
    controller.abort(new InterruptedError('Interrupted'));
    expect((await result).code).toBe(130);
    // The process is gone once the system has collected it.
    const isGone = () => expect(() => process.kill(Number(shop.log()), 0)).toThrow('ESRCH');
    await vi.waitFor(isGone, { timeout: 15_000 });
  });

  test('hides keys and passwords from a key command', async ({ shop }) => {
    shop.showsKey(`env | grep -c 'not_for_others' >> "$LOG"; echo ${shop.service.key}`);
    await shop.store();
    const names = ['SANDBOX_KEY', 'STATE_URL', 'API_KEY_PRODUCTION', 'NORTH_API_KEY_STAGING'];
    const env = Object.fromEntries(
      names.map((name) => [`PETSTOCK_${name}`, 'postgresql://ann:not_for_others@127.0.0.1:1/p']),
    );
    await shop.run('inventory list', { env: { ...env, PETSTOCK_STATE_URL: undefined } });
    expect(shop.log()).toBe('0\n');
    expect(withoutSecrets(env)).toEqual({});
  });

  test('passes only the absolute entries of PATH to a key command', async ({ shop }) => {
    shop.showsKey(`echo "$PATH" > "$LOG"; echo ${shop.service.key}`);
    await shop.store();
    const folder = resolve(shop.bin);
    await shop.run('inventory list', { env: { PATH: `.::${folder}:bin:./x:/usr/bin:/bin:` } });
    expect(shop.log()).toBe(`${folder}:/usr/bin:/bin\n`);
  });

  test('runs a key command in a shell only with --shell', async ({ shop }) => {
    const refused = await shop.store('show-key | head -1');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('"|" has a special meaning in a shell') });
    shop.showsKey(`echo ${shop.service.key}; echo second`);
    expect(await shop.store('show-key | head -1', '--shell')).toMatchObject({ code: 0 });
    expect((await shop.run('inventory list')).code).toBe(0);
    expect((await shop.run('config set-key --shell')).code).toBe(2);
  });

  test('replaces only the first program of a shell command with its absolute path', async ({ shop }) => {
    shop.showsKey();
    await shop.store(`${shop.bin}/show-key | cat`, '--shell');
    expect((await shop.stored()).keyCommands?.staging?.command).toBe(`${resolve(shop.bin, 'show-key')} | cat`);
    expect((await shop.run('inventory get 4')).code).toBe(0);
    await shop.store('cat package.json', '--shell');
    expect((await shop.run('inventory get 4')).stderr).toContain('ended with exit code 1');
    for (const text of ['$HOME/bin/show-key', '"./show key" | cat']) expect(absoluteShellCommand(text)).toBe(text);
  });
});

describe('splitting a key command into words', () => {
  test.each<[string, readonly string[]]>([
    ['pass show petstock', ['pass', 'show', 'petstock']],
    [`a 'b c' "d \\"e\\"" f\\ g`, ['a', 'b c', 'd "e"', 'f g']],
    [String.raw`C:\tools\op.exe read op://x/y`, [String.raw`C:\tools\op.exe`, 'read', 'op://x/y']],
    [`"C:\\Program Files\\op.exe" x`, [String.raw`C:\Program Files\op.exe`, 'x']],
    [`a '' b`, ['a', '', 'b']],
    [String.raw`a\'b \" c`, ["a'b", '"', 'c']],
    [`--field='a b'c`, ['--field=a bc']],
  ])('splits the key command %j', (text, words) => {
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
  ])('refuses the key command %j', (text) => {
    expect(parseCommandLine(text).ok).toBe(false);
  });

  const word = fc.string({ minLength: 1, unit: 'grapheme' });

  property('splits words quoted for a shell back into the same words', [fc.array(word, { minLength: 1 })], (words) => {
    const quoted = words.map((text) => `'${text.replaceAll("'", `'"'"'`)}'`).join(' ');
    expect(parseCommandLine(quoted)).toEqual({ ok: true, value: words });
  });
});
