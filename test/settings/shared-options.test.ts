import { describe, expect } from 'vitest';
import { optionVariables, readSharedOptions, sharedOptions } from '../../src/settings/shared-options.ts';
import { changeFile, errorJson, jsonLines, openShop, test } from '../support/shop.ts';

describe('the variable of an option that all commands share', () => {
  test('uses the variable of a shared option if the option is not given', async ({ shop }) => {
    const get = (env: Record<string, string>, words = '') => shop.run(`inventory get 4${words}`, { env });
    const json = await get({ PETSTOCK_OUTPUT: 'json' });
    expect(JSON.parse(json.stdout)).toMatchObject({ petId: 4 });
    expect((await get({ PETSTOCK_OUTPUT: 'json' }, ' -o csv --fields petId')).stdout).toBe('petId\n4\n');
    expect(JSON.parse((await get({ PETSTOCK_OUTPUT: 'xml' }, ' --json')).stdout)).toMatchObject({ petId: 4 });
    const strings = await get({ PETSTOCK_OUTPUT: 'json', PETSTOCK_STRING_IDS: '1' });
    expect(strings.stdout).toContain('"petId":"4"');
    expect((await get({ PETSTOCK_QUIET: 'true' })).stderr).toBe('');
    expect((await get({ PETSTOCK_QUIET: 'false', PETSTOCK_TIMEOUT: '' })).stderr).not.toBe('');
    expect((await get({ PETSTOCK_HEADER: 'yes' })).stdout).toMatch(/^petId\t/);
    expect((await get({ PETSTOCK_HEADER: 'yes' }, ' --no-header')).stdout).toMatch(/^4\t/);
    expect((await get({ PETSTOCK_COLOR: 'always', NO_COLOR: '1' }, ' -o table')).stdout).toContain('\x1b[');
    for (const { event } of jsonLines((await get({ PETSTOCK_LOG: 'json' })).stderr)) expect(event).toMatch(/^\w+$/);
    expect((await get({ PETSTOCK_LOG: 'json' }, ' --debug')).stderr).toMatch(/^> GET /m);
  });

  test('prefers the variable of a shared option over the setting', async ({ shop }) => {
    await shop.run('config set output csv');
    const env = { PETSTOCK_OUTPUT: 'ndjson' };
    expect((await shop.run('inventory get 4', { env })).stdout).toMatch(/^\{"petId":4,/);
    const output = { name: 'output', value: 'ndjson', source: 'PETSTOCK_OUTPUT' };
    expect(await shop.json('config get output --json', { env })).toEqual(output);
  });

  test('reads PETSTOCK_RETRIES, PETSTOCK_TIMEOUT and PETSTOCK_MAX_WAIT', async () => {
    const shop = await openShop({ faults: ['PATCH /inventory/*:status=503'] });
    const sent = async (env: Record<string, string>, words = '') =>
      (await shop.run(`inventory set 4 12${words}`, { env })).sent.filter((request) => request.startsWith('PATCH'))
        .length;
    expect(await sent({ PETSTOCK_RETRIES: '0' })).toBe(1);
    expect(await sent({ PETSTOCK_RETRIES: '0' }, ' --retries 2')).toBe(3);
    expect(readSharedOptions({}, { PETSTOCK_TIMEOUT: '0.5', PETSTOCK_MAX_WAIT: '7' })).toEqual({
      options: { timeout: 500, maxWait: 7000 },
      problemText: undefined,
    });
  });

  test.for([
    ['PETSTOCK_OUTPUT', 'xml', 'takes table, json, ndjson, csv, tsv or html, not "xml"'],
    ['PETSTOCK_TIMEOUT', 'soon', 'takes a number of seconds up to 2000000, such as 30, not "soon"'],
    ['PETSTOCK_TIMEOUT', '0', 'must be more than 0 seconds'],
    ['PETSTOCK_RETRIES', '-1', 'takes a whole number from 0 to 99, not "-1"'],
    ['PETSTOCK_MAX_WAIT', '1e3', 'takes a number of seconds up to 2000000, such as 90, not "1e3"'],
    ['PETSTOCK_LOG', 'xml', 'takes text or json, not "xml"'],
    ['PETSTOCK_COLOR', 'red', 'takes auto, always or never, not "red"'],
    ['PETSTOCK_QUIET', 'piano', 'takes true or false, not "piano"'],
    ['PETSTOCK_STRING_IDS', 'ones', 'takes true or false, not "ones"'],
  ] as const)('refuses an invalid variable, and names it: %s=%s', async ([name, value, words], { shop }) => {
    const stderr = await shop.refused('inventory list', { env: { [name]: value } });
    expect(stderr).toContain(`Error: ${name} ${words}.\nHint: petstock help options\n`);
    expect((await shop.run('help options', { env: { [name]: value } })).code).toBe(0);
    const json = await shop.run('inventory list', {
      env: { [name]: value, PETSTOCK_OUTPUT: value === 'xml' ? value : 'json' },
    });
    expect(json.code).toBe(2);
    if (name !== 'PETSTOCK_OUTPUT' && value !== 'xml') expect(errorJson(json.stderr).error.message).toContain(name);
  });

  test('does not accept a variable such as PETSTOCK_YES as a confirmation', async ({ shop }) => {
    const env = { PETSTOCK_YES: '1', PETSTOCK_ASSUME_YES: '1' };
    expect(await shop.refused(`inventory apply ${changeFile(shop, 'petId,quantity\n4,1\n')}`, { env })).toContain(
      'add --yes',
    );
  });

  test('lists the variables of shared options in the help of options and environment', async ({ shop }) => {
    const options = (await shop.run('help options')).stdout.replace(/\s+/g, ' ');
    const environment = (await shop.run('help environment')).stdout;
    for (const [name] of optionVariables()) {
      expect(options).toContain(`[${name}]`);
      expect(environment).toContain(name.replace(/=.*/, ''));
    }
    const without = Object.values(sharedOptions).filter((option) => !('variable' in option));
    expect(without.map(({ flags }) => flags)).toEqual(['--json', '-y, --yes']);
  });
});
