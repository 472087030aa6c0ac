import { expect, test as plain } from 'vitest';
import { allCommands } from '../../../.ci/reference/reference.ts';
import { commandsBelow } from '../../../src/cli/commands/command.ts';
import { root } from '../../../src/cli/commands/root.ts';
import { readCommandLine } from '../../../src/cli/program.ts';
import { test } from '../../support/shop.ts';

plain('describes every command and its operands', async () => {
  for (const { path, command } of await allCommands()) {
    expect(command.description, path).not.toBe('');
    if (path !== 'petstock') expect(command.summary, path).not.toBe('');
    for (const row of Object.values(command.operands ?? {})) expect(row.at(0), path).not.toBe('');
  }
});

plain.each([
  ['-qe sandbox inventory -o json list --low', ['inventory', 'list'], { quiet: true, env: 'sandbox', output: 'json' }],
  ['--store=north inventory set 4 12 --store south', ['inventory', 'set'], { store: 'south' }],
  ['-esandbox --debug=json undo --last', ['undo'], { env: 'sandbox', 'debug=json': true }],
  ['limits clear --yes', ['limits', 'clear'], { yes: true }],
  ['inventory lst --json', ['inventory'], { json: true }],
])('finds the command and the shared options of "%s"', async (line, names, shared) => {
  expect(await readCommandLine(line.split(' '))).toMatchObject({ names, shared });
});

test('prints the same help however it is requested, and wraps it to the width', async ({ shop }) => {
  const paths = (await allCommands()).map(({ names }) => names.join(' '));
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
      const texts = await Promise.all(lines.map((line) => shop.run(line, { terminal: width, env: { NO_COLOR: '1' } })));
      const [first] = texts;
      const example = new RegExp(`Commands:|Examples:[^]*petstock ${path}`);
      if (!['', 'help'].includes(path)) expect(first?.stdout).toMatch(example);
      expect(first?.stdout).toMatch(new RegExp(`^Usage: petstock ${path === '' ? '<command>' : path}( |\n)`, 'm'));
      for (const { code, stdout, stderr } of texts)
        expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: first?.stdout, stderr: '' });
      const prose = first?.stdout.split('\n').filter((line) => !/^ {2,}(petstock|source|#)/.test(line)) ?? [];
      expect(prose.filter((line) => line.length > width)).toEqual([]);
    }
  }
});

test('names every top-level command in the root help, in at most 24 lines', async ({ shop }) => {
  const { stdout } = await shop.run('--help', { terminal: 80 });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(24);
  const named = lines.flatMap((line) => /^ {2}([a-z]+) {2}/.exec(line)?.[1] ?? []);
  const commands = (await commandsBelow(root)).map(({ name }) => name);
  expect([...named, 'help'].toSorted()).toEqual(commands.toSorted());
});

test('prints the headings of help in bold on a terminal, unless colour is off', async ({ shop }) => {
  for (const words of ['--help', 'help inventory list', 'inventory list --help']) {
    const bold = await shop.run(words, { terminal: 80, env: { TERM: 'xterm' } });
    expect(bold.stdout).toContain('\x1b[1mUsage:\x1b[22m petstock');
    for (const [line, options] of [
      [words, {}],
      [`--color never ${words}`, { terminal: 80, env: { TERM: 'xterm' } }],
      [words, { terminal: 80, env: { NO_COLOR: '1' } }],
    ] as const)
      expect((await shop.run(line, options)).stdout).toBe(bold.stdout.replaceAll(/\x1b\[\d+m/g, ''));
  }
});

test("shows only a command's own options in its help, and says where to find the global ones", async ({ shop }) => {
  const { stdout } = await shop.run('inventory list --help');
  expect(stdout).toContain('--status');
  expect(stdout).not.toContain('--max-wait');
  expect(stdout).toContain('\nGlobal options: petstock help options\n');
  expect((await shop.run('help options')).stdout).toMatch(/--max-wait <seconds> +maximum/);
});

test('lists the environment variables in help environment', async ({ shop }) => {
  const { stdout } = await shop.run('help environment');
  const names = ['ENV', 'STORE', 'URL_STAGING', 'API_KEY_STAGING', 'API_KEY', 'CONFIG_DIR', 'STATE_DIR', 'STATE_URL'];
  for (const name of [...names, 'PAGER', 'SANDBOX_KEY']) expect(stdout).toContain(`PETSTOCK_${name}`);
  for (const name of ['FORCE_COLOR', 'NO_COLOR', 'CLICOLOR_FORCE', 'CLICOLOR=0', 'TERM=dumb', 'ALL_PROXY'])
    expect(stdout).toContain(name);
});

test('shows help if there is no command or only a noun', async ({ shop }) => {
  for (const words of [[], ['inventory'], ['config'], ['sandbox'], ['pets'], ['orders'], ['history'], ['state']])
    expect(await shop.run(words)).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: petstock') });
});

test('prints only the version with --version, but accepts -V as a value of --reason', async ({ shop }) => {
  expect(await shop.run('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  await shop.exits('inventory set 4 7 --reason -V', 0, '▸ staging');
  expect(await shop.run('inventory list -V')).toMatchObject({ code: 0, requests: [] });
});
