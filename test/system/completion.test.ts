import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, temporaryHome } from '../support/program.ts';
import { makeProgram, openShell } from '../support/shells.ts';

const fileNames = ['counts.csv', 'notes.md', 'sold today.csv', '$(touch pwned).csv'];

test('zsh completes commands, options and their values', async () => {
  const shell = await openShell('zsh');
  expect(await shell.complete('petstock inv')).toBe('petstock inventory ');
  expect(await shell.complete('petstock inventory list --sum')).toBe('petstock inventory list --summary ');
  expect(await shell.complete('petstock --env=pro')).toBe('petstock --env=production ');
  expect(await shell.complete('petstock -q inventory list --status available,pe')).toBe(
    'petstock -q inventory list --status available,pending ',
  );
  expect(await shell.complete('petstock inventory apply --column pe')).toBe('petstock inventory apply --column petId=');
  expect(await shell.complete('petstock config set confirm al')).toBe('petstock config set confirm always ');
  expect(await shell.list('petstock inventory ')).toMatch(/^set +-- set the stock of one pet or several/m);
});

test('zsh proposes files and runs, and quotes them', async () => {
  const shell = await openShell('zsh');
  const { home } = shell;
  for (const name of fileNames) writeFileSync(join(shell.folder, name), '');
  expect(await shell.complete('petstock inventory apply cou')).toBe('petstock inventory apply counts.csv ');
  expect(await shell.complete('petstock inventory apply so')).toBe('petstock inventory apply sold\\ today.csv ');
  expect(await shell.complete('petstock inventory diff cou')).toBe('petstock inventory diff counts.csv ');
  expect(await shell.complete('petstock inventory diff sta')).toBe('petstock inventory diff staging ');
  expect(await shell.complete('petstock inventory count --to=cou')).toBe('petstock inventory count --to=counts.csv ');
  const reason = '$(touch pwned) `touch pwned`; touch pwned: %B';
  await runProgram(['inventory', 'adjust', '4', '-2', '--reason', reason, '--env', 'sandbox'], { home });
  expect(await shell.list('petstock history show ')).toMatch(/petstock history show \d{8}T\d{6}Z-[a-z0-9]{4} /);
  await runProgram('inventory adjust 5 -1 --env sandbox', { home });
  expect(await shell.list('petstock undo ')).toContain('adjust, pet 4 · sandbox · $(touch pwned)');
  await shell.run('petstock inventory apply \\$');
  await shell.run('petstock history show 2');
  expect(readdirSync(shell.folder)).not.toContain('pwned');
});

test('zsh completes by the file in fpath, too', async () => {
  const home = temporaryHome();
  const { stdout: script } = await runProgram('completion zsh', { home });
  const functions = join(home.folder, 'functions');
  mkdirSync(functions);
  writeFileSync(join(functions, '_petstock'), script);
  const shell = await openShell('zsh', { home, before: `fpath=("${functions}" $fpath)`, isLoaded: false });
  expect(await shell.complete('petstock inv')).toBe('petstock inventory ');
  expect(await shell.complete('petstock hist')).toBe('petstock history ');
});

test('fish completes commands, options, values and files', async () => {
  const home = temporaryHome();
  const bin = makeProgram(home);
  const folder = join(home.folder, 'work');
  mkdirSync(join(folder, 'north'), { recursive: true });
  for (const name of fileNames) writeFileSync(join(folder, name), '');
  await runProgram(['inventory', 'adjust', '4', '-2', '--reason', '$(touch pwned)', '--env', 'sandbox'], { home });
  const complete = (line: string, ...flags: string[]) =>
    execFileSync(
      'fish',
      ['--no-config', '-c', `petstock completion fish | source; complete -C ${flags.join(' ')} '${line}'`],
      {
        cwd: folder,
        encoding: 'utf8',
        env: {
          PATH: `${bin}:${process.env.PATH}`,
          HOME: home.folder,
          LANG: 'C.UTF-8',
          PETSTOCK_CONFIG_DIR: home.config,
          PETSTOCK_STATE_DIR: home.state,
        },
      },
    )
      .trim()
      .split('\n');
  expect(complete('petstock inv')).toEqual(['inventory\tlook at and change stock levels']);
  expect(complete('petstock inventory list --sum')).toEqual(['--summary\tcount pets and units by status, and in all']);
  expect(complete('petstock --env=pro')).toEqual(['--env=production']);
  expect(complete('petstock inventory list --status available,pe')).toEqual(['available,pending']);
  expect(complete('petstock inventory apply ')).not.toContain('notes.md');
  expect(complete('petstock inventory apply ').sort()).toEqual([
    '$(touch pwned).csv',
    'counts.csv',
    'north/',
    'sold today.csv',
  ]);
  expect(complete('petstock inventory apply \\$', '--escape')).toEqual(['\\$\\(touch\\ pwned\\).csv']);
  expect(complete('petstock inventory diff sta')).toEqual(['staging']);
  expect(complete('petstock inventory count --to=cou')).toEqual(['--to=counts.csv']);
  expect(complete('petstock undo ')).toEqual([
    expect.stringMatching(/^\d{8}T\d{6}Z-[a-z0-9]{4}\t\d+ s ago · adjust, pet 4 · sandbox · \$\(touch pwned\)$/),
  ]);
  expect(readdirSync(folder)).not.toContain('pwned');
});
