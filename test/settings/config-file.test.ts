import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { watch } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { configFile, emptyConfig, readConfig } from '../../src/settings/config-file.ts';
import { setKey, setSetting, setUrl, unsetKey, unsetUrl } from '../../src/settings/write-config.ts';
import { FailureError, UsageError } from '../../src/shared/errors.ts';
import { bundled } from '../support/bundled.ts';
import { newFolder, test } from '../support/new-folder.ts';
import fc, { property } from '../support/properties.ts';

/** For a longer test: `PETSTOCK_WRITERS=8 PETSTOCK_ROUNDS=50`. */
const writersAtOnce = Number(process.env.PETSTOCK_WRITERS ?? 3);
const rounds = Number(process.env.PETSTOCK_ROUNDS ?? 8);

const modeOf = (target: string) => fs.statSync(target).mode & 0o777;
const write = (folder: string, text: string) => fs.writeFileSync(configFile(folder), text, { mode: 0o600 });
const read = async (folder: string) => (await readConfig(folder)).config;
const staging = (folder: string) => ({ folder, store: undefined, env: 'staging' }) as const;
const setLowStock = (folder: string, value: number) => setSetting({ folder, store: undefined }, 'low-stock', value);

describe('readConfig', () => {
  test.each(['', 'not-there-yet'])('reads a missing configuration file as an empty one (%j)', async (inner) => {
    expect(await readConfig(path.join(newFolder(), inner))).toEqual({ config: emptyConfig, warnings: [] });
  });

  test('reads a configuration file with missing parts, and ignores unknown parts', async ({ folder }) => {
    write(folder, '\uFEFF{"keys":{"staging":"psk_abcdef","elsewhere":1},"later":true}');
    expect(await read(folder)).toEqual({ ...emptyConfig, keys: { staging: 'psk_abcdef' } });
  });

  test('makes a configuration file private if others can read it, and warns once', async ({ folder }) => {
    write(folder, '{}');
    fs.chmodSync(configFile(folder), 0o644);
    const warning = `${configFile(folder)} could be read by others. It is now private (0600)`;
    expect((await readConfig(folder)).warnings).toEqual([warning]);
    expect(modeOf(configFile(folder))).toBe(0o600);
    expect((await readConfig(folder)).warnings).toEqual([]);
  });

  test.each([
    ['', /not valid JSON/],
    ['{"keys":{"staging":"psk_secret"', /not valid JSON/],
    ['[]', /the file must be a JSON object/],
    ['null', /the file must be a JSON object/],
    ['{"version":0}', /"version" must be 1\. petstock did not change it/],
    ['{"version":"2"}', /"version" must be 1/],
    ['{"settings":[]}', /"settings" must be a JSON object/],
    ['{"settings":{"low-stock":"5"}}', /"low-stock" must be a whole number/],
    ['{"settings":{"low-stock":-1}}', /"low-stock"/],
    ['{"settings":{"confirm":"never"}}', /"confirm" must be one of bulk, always/],
    ['{"keys":{"staging":5}}', /"keys"\."staging" is not valid/],
    ['{"keys":{"staging":"Bearer psk_secret"}}', /"keys"\."staging" is not valid/],
    ['{"urls":{"production":"http://psk_secret.example/v1"}}', /"urls"\."production" is not valid.*https/],
  ])('refuses the configuration %j, and does not change it', async (text, reason) => {
    const folder = newFolder();
    write(folder, text);
    const error = await setLowStock(folder, 1).catch((thrown: unknown) => thrown);
    await expect(readConfig(folder)).rejects.toThrow(UsageError);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toMatch(reason);
    expect(String(error)).toContain(configFile(folder));
    expect(String(error)).not.toContain('psk_secret');
    expect(fs.readFileSync(configFile(folder), 'utf8')).toBe(text);
  });

  test("names the configuration file if it can't be read", async ({ folder }) => {
    fs.mkdirSync(configFile(folder));
    await expect(readConfig(folder)).rejects.toThrow(`${configFile(folder)} can't be used: it is a folder, not a file`);
  });
});

test('refuses a configuration folder that others can write to, and does not change it', async ({ folder }) => {
  write(folder, '{"settings":{"low-stock":3}}');
  fs.chmodSync(folder, 0o1777);
  await expect(readConfig(folder)).rejects.toThrow(FailureError);
  await expect(setLowStock(folder, 4)).rejects.toThrow(`such as ${folder}/petstock`);
  expect(fs.readFileSync(configFile(folder), 'utf8')).toBe('{"settings":{"low-stock":3}}');
  expect(fs.statSync(folder).mode & 0o7777).toBe(0o1777);
});

describe('writing the configuration', () => {
  test('creates the configuration folder with mode 0700 and its file with mode 0600', async () => {
    const folder = path.join(newFolder(), 'new', 'petstock');
    await setKey(staging(folder), 'psk_abcdef');
    expect([modeOf(folder), modeOf(configFile(folder))]).toEqual([0o700, 0o600]);
    expect(fs.readdirSync(folder)).toEqual(['config.json', 'config.lock']);
  });

  test('removes what a killed command left beside the configuration file', async ({ folder }) => {
    fs.writeFileSync(`${configFile(folder)}.before`, '{"keys":{"staging":"psk_abc', { mode: 0o644 });
    await setLowStock(folder, 4);
    expect((await read(folder)).settings).toEqual({ 'low-stock': 4 });
    expect([modeOf(configFile(folder)), fs.readdirSync(folder)]).toEqual([0o600, ['config.json', 'config.lock']]);
  });

  test('does not write a file to remove a setting that is not set', async ({ folder }) => {
    await setSetting({ folder, store: undefined }, 'output', undefined);
    expect(fs.existsSync(configFile(folder))).toBe(false);
  });

  test('reads and writes the configuration through a link to another file of the user', async ({ folder }) => {
    const target = path.join(newFolder(), 'dotfile.json');
    fs.writeFileSync(target, '{"settings":{"low-stock":3}}', { mode: 0o644 });
    fs.symlinkSync(target, configFile(folder));
    expect((await read(folder)).settings).toEqual({ 'low-stock': 3 });
    await setLowStock(folder, 0);
    expect(fs.lstatSync(configFile(folder)).isSymbolicLink()).toBe(true);
    expect(JSON.parse(fs.readFileSync(target, 'utf8'))).toEqual({ settings: { 'low-stock': 0 } });
    expect(modeOf(target)).toBe(0o600);
  });

  test('refuses a configuration file that is a dangling link or links into a shared folder', async ({ folder }) => {
    const shared = newFolder();
    fs.symlinkSync(path.join(shared, 'config.json'), configFile(folder));
    await expect(setLowStock(folder, 0)).rejects.toThrow('whose target does not exist');
    fs.writeFileSync(path.join(shared, 'config.json'), '{}', { mode: 0o600 });
    fs.chmodSync(shared, 0o1777);
    await expect(readConfig(folder)).rejects.toThrow(FailureError);
    await expect(setLowStock(folder, 0)).rejects.toThrow(FailureError);
    expect(fs.readFileSync(path.join(shared, 'config.json'), 'utf8')).toBe('{}');
  });

  test("names the configuration folder if it can't be created", async () => {
    const folder = path.join(newFolder(), 'occupied', 'in');
    fs.writeFileSync(path.dirname(folder), '');
    const error = await setKey(staging(folder), 'psk_secret').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FailureError);
    expect(String(error)).toContain(folder);
    expect(String(error)).not.toContain('psk_secret');
  });

  const key = fc.stringMatching(/^[A-Za-z0-9_.~+/=-]{1,60}$/).filter((text) => !/^bearer$/i.test(text));

  property(
    'reads back keys and settings until they are removed',
    [key, fc.constantFrom('staging', 'production'), fc.maxSafeNat(), fc.webAuthority()],
    { numRuns: 10 },
    async (secret, env, number, host) => {
      const folder = newFolder();
      const where = { folder, store: undefined, env };
      await setKey(where, secret);
      await setSetting(where, 'max-changes', number);
      await setUrl(where, `https://${host}/v1`);
      const { keys, settings } = await read(folder);
      expect({ keys, settings }).toEqual({ keys: { [env]: secret }, settings: { 'max-changes': number } });
      await unsetKey(where);
      await unsetUrl(where);
      await setSetting(where, 'max-changes', undefined);
      expect(await read(folder)).toEqual(emptyConfig);
    },
  );
});

test('loses no write of concurrent writers, and never exposes a broken file, even if one is killed', async ({
  folder,
}) => {
  const module = JSON.stringify(await bundled('src/settings/write-config.ts'));
  const script = `
    const { setUrl } = await import(${module});
    const [folder, writer, rounds] = process.argv.slice(1);
    for (let n = 0; n < Number(rounds); n++) {
      const store = 's' + writer + '-' + n;
      await setUrl({ folder, store, env: 'staging' }, 'https://' + store + '.example/v1');
    }`;
  const start = (writer: number, count: number) =>
    spawn(process.execPath, ['--input-type=module', '-e', script, folder, `${writer}`, `${count}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  const firstWrite = once(watch(folder), 'change');
  const killed = start(99, 100_000);
  const writers = Array.from({ length: writersAtOnce }, (_, writer) => start(writer, rounds));
  let running = writers.length;
  const ends = writers.map(async (writer) => {
    const errors: Uint8Array[] = [];
    writer.stderr.on('data', (chunk: Uint8Array) => errors.push(chunk));
    const [code] = await once(writer, 'close');
    running -= 1;
    return { code, errors: Buffer.concat(errors).toString() };
  });
  await firstWrite;
  while (running > 0) {
    if (Object.keys((await read(folder)).stores).length > rounds) killed.kill('SIGKILL');
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await Promise.all(ends)).toEqual(writers.map(() => ({ code: 0, errors: '' })));
  const kept = Object.keys((await read(folder)).stores).filter((store) => !store.startsWith('s99-'));
  expect(kept).toHaveLength(writersAtOnce * rounds);
}, 120_000);
