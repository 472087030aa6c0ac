import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeFileAtomically } from '../../src/shared/atomic-file.ts';
import { FailureError } from '../../src/shared/errors.ts';
import { newFolder } from '../support/new-folder.ts';

/** A program that swaps a file or folder with a link to `target` as fast as it can, like a hostile user. */
const swapper = `
  const { linkSync, lstatSync, mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
  const [path, target, isFolder] = process.argv.slice(1);
  const turn = isFolder
    ? () => {
        renameSync(path, path + '.real');
        symlinkSync(target, path);
        rmSync(path);
        renameSync(path + '.real', path);
      }
    : () => {
        symlinkSync(target, path + '.link');
        renameSync(path + '.link', path);
        writeFileSync(path + '.file', 'mine');
        renameSync(path + '.file', path);
      };
  turn();
  process.stdout.write('ready');
  for (;;) turn();
`;

/** Runs the swapper until the test is finished. */
async function startSwapper(...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ['-e', swapper, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await once(child.stdout, 'data');
}

/** Creates a folder that all users can write to, and a file of ours elsewhere. */
function openFolders() {
  const folder = fs.realpathSync(newFolder());
  const [shared, ours] = [join(folder, 'shared'), join(folder, 'ours')];
  for (const each of [shared, ours]) fs.mkdirSync(each);
  fs.chmodSync(shared, 0o1777);
  fs.writeFileSync(join(ours, 'x.csv'), 'ours');
  return { shared, ours };
}

async function tryToWrite(file: string): Promise<void> {
  for (let tries = 0; tries < 1500; tries += 1) {
    await writeFileAtomically(file, ['x'], { sync: { file: async () => {}, folder: async () => {} } }).catch(
      (error) => {
        if (!(error instanceof FailureError)) throw error;
      },
    );
  }
}

test('does not write through a link that replaces a file meanwhile', async () => {
  const { shared, ours } = openFolders();
  const file = join(shared, 'x.csv');
  await startSwapper(file, join(ours, 'x.csv'));
  await tryToWrite(file);
  expect(fs.readFileSync(join(ours, 'x.csv'), 'utf8')).toBe('ours');
});

test('does not write through a link that replaces a folder meanwhile', async () => {
  const { shared, ours } = openFolders();
  const folder = join(shared, 'folder');
  fs.mkdirSync(folder);
  await startSwapper(folder, ours, 'folder');
  await tryToWrite(join(folder, 'x.csv'));
  await tryToWrite(join(folder, 'new.csv'));
  expect([fs.readFileSync(join(ours, 'x.csv'), 'utf8'), fs.readdirSync(ours)]).toEqual(['ours', ['x.csv']]);
});
