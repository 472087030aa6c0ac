import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, temporaryHome } from '../support/program.ts';
import { openShell } from '../support/shells.ts';

test('completes commands, options and their values in bash, quoted or in the middle of a line', async () => {
  const shell = await openShell('bash');
  for (const [typed, completed] of [
    ['inv', 'inventory '],
    ['--env=pro', '--env=production '],
    ['inventory list --status=available,pe', 'inventory list --status=available,pending '],
    ['inventory apply --column pe', 'inventory apply --column petId='],
    ['inventory list --sort "qu', 'inventory list --sort "quantity" '],
    ["inventory list --sort='qu", "inventory list --sort='quantity' "],
    ['"config" set \'confirm\' al', '"config" set \'confirm\' always '],
    // The cursor moves back to the end of `inv`.
    ['inv list\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D', 'inventory list'],
  ]) {
    expect(await shell.complete(`petstock ${typed}`)).toBe(`petstock ${completed}`);
  }
});

test('lists candidates with their meaning in bash, and completes their common part', async () => {
  const shell = await openShell('bash');
  expect(await shell.list('petstock inventory ')).toMatch(/^set +set the stock of one pet *\r?$/m);
  expect(await shell.complete('petstock config se', 2)).toBe('petstock config set');
  expect(await shell.complete('petstock inventory list --reason ', 2)).toBe('petstock inventory list --reason --');
});

test('completes file names in bash, and quotes them', async () => {
  const shell = await openShell('bash');
  const names = ['counts.csv', 'notes.md', 'sold today.csv', '$(touch pwned).csv', 'COUNTS-2.CSV', 'new\nline.csv'];
  for (const name of names) writeFileSync(join(shell.folder, name), '');
  mkdirSync(join(shell.folder, 'north'));
  expect(await shell.complete('petstock inventory apply cou')).toBe('petstock inventory apply counts.csv ');
  expect(await shell.complete('petstock inventory apply so')).toBe('petstock inventory apply sold\\ today.csv ');
  expect(await shell.complete('petstock inventory apply no')).toBe('petstock inventory apply north/');
  expect(await shell.complete('petstock inventory apply notes')).toBe('petstock inventory apply notes.md ');
  expect(await shell.complete('petstock inventory diff cou')).toBe('petstock inventory diff counts.csv ');
  expect(await shell.complete('petstock inventory diff sta')).toBe('petstock inventory diff staging ');
  expect(await shell.complete('petstock inventory count --to=cou')).toBe('petstock inventory count --to=counts.csv ');
  await shell.run("petstock inventory apply '$(to");
  await shell.run('petstock inventory apply \\$');
  await shell.run('petstock inventory apply new');
  expect(readdirSync(shell.folder)).not.toContain('pwned');
});

test('lists runs with a description in bash without executing any part of it', async () => {
  const shell = await openShell('bash');
  const { home } = shell;
  const reason = 'fair\u001b]0;x\u0007 $(touch pwned) `touch pwned`; touch pwned';
  await runProgram(['inventory', 'adjust', '4', '-2', '--reason', reason, '--env', 'sandbox'], { home });
  await runProgram('inventory adjust 5 -1 --env sandbox', { home });
  const { stdout } = await runProgram('history list -o tsv', { home });
  const [newest = '', oldest = ''] = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '');
  const shown = await shell.list('petstock undo ');
  expect(shown).toMatch(new RegExp(`${oldest}  \\d+ s ago · adjust, pet 4 · sandbox · fair \\$\\(touch pwned\\)`));
  expect(shown.indexOf(newest)).toBeLessThan(shown.indexOf(oldest));
  expect(await shell.complete(`petstock undo ${oldest.slice(-4, -1)}`)).toBe(`petstock undo ${oldest.slice(-4)} `);
  await shell.run('petstock history show ');
  expect(await shell.list('petstock inventory get ')).toMatch(/^4 {2}inventory adjust, \d+ s ago/m);
  expect(existsSync(join(shell.folder, 'pwned'))).toBe(false);
});

test('completes store names, but not runs of a shared state', async () => {
  const home = temporaryHome();
  await runProgram('config set-url https://north.example/v1 --store north', { home });
  await runProgram('inventory adjust 4 -2 --env sandbox', { home });
  const answer = async (words: string, env = {}) =>
    (await runProgram(`__complete bash : ${words}`, { home, env })).stdout.split('\n').slice(1, -1);
  expect(await answer('--store')).toEqual(['north\tstaging', 'default\tthe store without a name']);
  expect(await answer('undo')).toHaveLength(1);
  expect(await answer('undo', { PETSTOCK_STATE_URL: 'postgres://127.0.0.1:1/none' })).toEqual([]);
  await runProgram('config set state-url postgres://127.0.0.1:1/none', { home });
  expect(await answer('undo')).toEqual([]);
  expect(await answer('undo', { PETSTOCK_STATE_URL: 'none' })).toHaveLength(1);
});

test('completes without writing files, and silently if state and configuration are broken', async () => {
  const home = temporaryHome();
  for (const words of [['undo'], ['--store']]) {
    const answer = await runProgram(['__complete', 'bash', ':', ...words], { home });
    expect(answer).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^words\n/) });
  }
  expect(readdirSync(home.folder)).toEqual([]);
  mkdirSync(home.state, { recursive: true });
  mkdirSync(home.config, { recursive: true });
  writeFileSync(join(home.state, 'state.db'), 'no database');
  writeFileSync(join(home.config, 'config.json'), '{"stores":');
  for (const words of [['undo'], ['--store']]) {
    expect(await runProgram(['__complete', 'bash', ':', ...words], { home })).toMatchObject({ code: 0, stderr: '' });
  }
  expect(await runProgram(['__complete'], { home })).toMatchObject({ code: 0, stderr: '' });
});
