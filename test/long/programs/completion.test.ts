import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, temporaryHome } from '../../support/program.ts';
import { makeProgram, openShell } from '../../support/shells.ts';

const fileNames = ['counts.csv', 'notes.md', 'sold today.csv', '$(touch pwned).csv'];

test('completes commands, options and their values in zsh', async () => {
  const shell = await openShell('zsh');
  for (const [typed, completed] of [
    ['inv', 'inventory '],
    ['inventory list --sum', 'inventory list --summary '],
    ['--env=pro', '--env=production '],
    ['-q inventory list --status available,pe', '-q inventory list --status available,pending '],
    ['inventory apply --column pe', 'inventory apply --column petId='],
    ['config set confirm al', 'config set confirm always '],
  ] as const)
    expect(await shell.complete(`petstock ${typed}`)).toBe(`petstock ${completed}`);
  expect(await shell.list('petstock inventory ')).toMatch(/^set +-- set the stock of one or more pets/m);
});

test('completes files and runs in zsh, and quotes them', async () => {
  const shell = await openShell('zsh');
  const { home } = shell;
  for (const name of fileNames) writeFileSync(join(shell.folder, name), '');
  for (const [typed, completed] of [
    ['apply cou', 'apply counts.csv '],
    ['apply so', 'apply sold\\ today.csv '],
    ['diff cou', 'diff counts.csv '],
    ['diff sta', 'diff staging '],
    ['count --to=cou', 'count --to=counts.csv '],
  ] as const)
    expect(await shell.complete(`petstock inventory ${typed}`)).toBe(`petstock inventory ${completed}`);
  const reason = '$(touch pwned) `touch pwned`; touch pwned: %B';
  await runProgram(['inventory', 'adjust', '4', '-2', '--reason', reason, '--env', 'sandbox'], { home });
  expect(await shell.list('petstock history show ')).toMatch(/petstock history show \d{8}T\d{6}Z-[a-z0-9]{4} /);
  await runProgram('inventory adjust 5 -1 --env sandbox', { home });
  expect(await shell.list('petstock undo ')).toContain('adjust, pet 4 · sandbox · $(touch pwned)');
  await shell.run('petstock inventory apply \\$');
  await shell.run('petstock history show 2');
  expect(readdirSync(shell.folder)).not.toContain('pwned');
});

test('completes commands, options, values and files in fish', async () => {
  const home = temporaryHome();
  const bin = makeProgram(home);
  const folder = join(home.folder, 'work');
  mkdirSync(join(folder, 'north'), { recursive: true });
  for (const name of fileNames) writeFileSync(join(folder, name), '');
  await runProgram(['inventory', 'adjust', '4', '-2', '--reason', '$(touch pwned)', '--env', 'sandbox'], { home });
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home.folder,
    LANG: 'C.UTF-8',
    PETSTOCK_CONFIG_DIR: home.config,
    PETSTOCK_STATE_DIR: home.state,
  };
  const complete = (line: string, ...flags: string[]) => {
    const script = `petstock completion fish | source; complete -C ${flags.join(' ')} 'petstock ${line}'`;
    const shown = execFileSync('fish', ['--no-config', '-c', script], { cwd: folder, encoding: 'utf8', env });
    return shown.trim().split('\n');
  };
  expect(complete('inv')).toEqual(['inventory\tlist, get, set, adjust, apply, export, count, codes, diff, watch']);
  expect(complete('inventory list --sum')).toEqual(['--summary\tcount pets and units, by status and in total']);
  expect(complete('--env=pro')).toEqual(['--env=production']);
  expect(complete('inventory list --status available,pe')).toEqual(['available,pending']);
  const files = ['$(touch pwned).csv', 'counts.csv', 'north/', 'sold today.csv'];
  expect(complete('inventory apply ').sort()).toEqual(files);
  expect(complete('inventory apply \\$', '--escape')).toEqual(['\\$\\(touch\\ pwned\\).csv']);
  expect(complete('inventory diff sta')).toEqual(['staging']);
  expect(complete('inventory count --to=cou')).toEqual(['--to=counts.csv']);
  expect(complete('undo ')).toEqual([
    expect.stringMatching(/^\d{8}T\d{6}Z-[a-z0-9]{4}\t\d+ s ago · adjust, pet 4 · sandbox · \$\(touch pwned\)$/),
  ]);
  expect(readdirSync(folder)).not.toContain('pwned');
});
