import { existsSync } from 'node:fs';
import { link, open, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { UsageError } from '../../../shared/errors.ts';
import { fileErrorReason } from '../../../shared/file-error.ts';
import { shellWord } from '../../../shared/where.ts';
import type { Run } from '../../invocation/invocation.ts';
import { storeError } from '../../sandbox.ts';
import { examples } from '../command.ts';
import { requireFileName } from '../values.ts';
import { chosenStore, printRecord, type StoreChoice, withStoreOptions } from './store-access.ts';

export function defineBackup(command: Command, run: Run): void {
  withStoreOptions(command)
    .argument('<file>', 'where to write it; nothing may be there')
    .description(
      'Copies the database file as it is at one moment, with stock, keys and what they have used, also while it is served. ' +
        'To go back, stop the service and serve the copy. A PostgreSQL is backed up by pg_dump.',
    )
    .addHelpText('after', examples([['petstock sandbox backup monday.db']]))
    .action(
      run<StoreChoice>(async (invocation, choice, target = '') => {
        requireFileName(target, 'sandbox backup');
        const chosen = chosenStore(invocation, choice);
        if ('database' in chosen) {
          throw new UsageError('A PostgreSQL is backed up by its own tools: pg_dump --schema=petstock_service');
        }
        if (existsSync(target)) throw new UsageError(`${target} is there already; name another file`);
        const pets = await copy(chosen.file, target);
        await invocation.messages.note(
          `Written to ${target}. To serve it: petstock sandbox serve --file ${shellWord(target)}`,
        );
        await printRecord(invocation, { file: target, pets });
      }),
    );
}

/** Under another name until it is whole, so that what breaks off leaves nothing that looks like a backup. */
async function copy(file: string, target: string): Promise<number> {
  const { backupDatabase } = await import('../../../service/index.ts');
  const unfinished = `${target}.unfinished`;
  const remove = () =>
    Promise.all(['', '-journal', '-wal', '-shm'].map((end) => rm(unfinished + end, { force: true })));
  try {
    await remove();
    // It holds what keys have used: for this user alone.
    await (await open(unfinished, 'wx', 0o600)).close();
    const pets = await backupDatabase(file, unfinished);
    await link(unfinished, target);
    return pets;
  } catch (error) {
    const worded = await storeError(error, { file });
    throw worded === error
      ? new UsageError(`${target} can't be written: ${fileErrorReason(error)}`, { cause: error })
      : worded;
  } finally {
    await remove();
  }
}
