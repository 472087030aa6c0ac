import { expect } from 'vitest';
import { allCommands, pathOf } from '../../.ci/reference/reference.ts';
import { topicNames } from '../../src/cli/commands/help.ts';
import { exitCodes } from '../../src/shared/errors.ts';
import { test } from '../support/shop.ts';

test('each command shows the same help in each way to ask for it, whatever the width', async ({ shop }) => {
  const paths = (await allCommands()).map(pathOf);
  expect(paths.length).toBeGreaterThan(45);
  for (const path of paths) {
    const words = path.split(' ').filter((word) => word !== '');
    for (const width of path === 'inventory apply' ? [40, 80, 100] : [80]) {
      const lines = [
        [...words, '--help'],
        [...words, '-h'],
        ['help', ...words],
        ['--color', 'never', ...words, '--help'],
      ];
      const texts = await Promise.all(lines.map((line) => shop.run(line, { terminal: width })));
      const [first] = texts;
      const example = new RegExp(`Commands:|Examples:[^]*petstock ${path}`);
      if (!['', 'help', 'licenses'].includes(path)) expect(first?.stdout).toMatch(example);
      expect(first?.stdout).toMatch(new RegExp(`^Usage: petstock( ${path})?( |\n)`));
      for (const { code, stdout, stderr } of texts)
        expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: first?.stdout, stderr: '' });
      const prose = first?.stdout.split('\n').filter((line) => !/^ {2,}(petstock|source|#)/.test(line)) ?? [];
      expect(prose.filter((line) => line.length > width)).toEqual([]);
    }
  }
});

test.for(topicNames)('help %s is wrapped at words', async (topic, { shop }) => {
  const wide = await shop.run(`help ${topic}`, { terminal: 100 });
  for (const terminal of [80, 60]) {
    const { stdout } = await shop.run(`help ${topic}`, { terminal });
    expect(stdout.split('\n').filter((line) => line.length > terminal)).toEqual([]);
    expect(stdout.split(/\s+/)).toEqual(wide.stdout.split(/\s+/));
  }
});

test('the help of a command has its own options, and says where the global ones are', async ({ shop }) => {
  const { stdout } = await shop.run('inventory list --help');
  expect(stdout).toContain('--status');
  expect(stdout).not.toContain('--max-wait');
  expect(stdout).toContain('\nGlobal options: petstock help options\n');
  expect((await shop.run('help options')).stdout).toMatch(/--max-wait <seconds> +longest/);
});

test('help environment names every variable of the contract', async ({ shop }) => {
  const { stdout } = await shop.run('help environment');
  const names = ['ENV', 'STORE', 'URL_STAGING', 'API_KEY_STAGING', 'API_KEY', 'CONFIG_DIR', 'STATE_DIR', 'STATE_URL'];
  for (const name of [...names, 'PAGER', 'SERVE_PORT']) expect(stdout).toContain(`PETSTOCK_${name}`);
  for (const name of ['FORCE_COLOR', 'NO_COLOR', 'TERM=dumb']) expect(stdout).toContain(name);
});

test('the exit codes in the help are those of the program', async ({ shop }) => {
  const { stdout } = await shop.run('help exit-codes');
  const told = [...stdout.matchAll(/^ *(\d+) {2}/gm)].map(([, code]) => Number(code));
  expect(told).toEqual(Object.values(exitCodes));
});

test('no words, or those of a noun alone, show help', async ({ shop }) => {
  for (const words of [[], ['inventory'], ['config'], ['sandbox'], ['pets'], ['orders'], ['history'], ['state']])
    expect(await shop.run(words)).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: petstock') });
});

test('--version is the version alone, and -V as the value of an option is not taken for the question', async ({
  shop,
}) => {
  expect(await shop.run('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  await shop.refused('inventory set 4 7 --reason -V');
  expect(await shop.run('inventory list -V')).toMatchObject({ code: 0, requests: [] });
});

test('licenses prints the texts as they are, or as one in JSON, and sends nothing', async ({ shop }) => {
  const licences = 'petstock 1.0.0\n\nMIT License\n\n---\n\nundici 7.0.0\n\nMIT License\n';
  const result = await shop.run('licenses', { licences });
  expect(result).toEqual({ code: 0, stdout: licences, stderr: '', requests: [], sent: [] });
  expect(await shop.json('licenses --json', { licences })).toEqual({ text: licences });
});
