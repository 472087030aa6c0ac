import type { Command } from 'commander';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { registerGet } from './get.ts';
import { registerList } from './list.ts';
import { registerPath } from './path.ts';
import { registerSet } from './set.ts';
import { registerSetKey } from './set-key.ts';
import { registerSetUrl } from './set-url.ts';
import { registerUnset } from './unset.ts';
import { registerUnsetKey } from './unset-key.ts';

const help = examples([
  ['petstock config set-url https://stock.example.com/v1 --env production'],
  ['petstock config set-key --env production'],
  ['petstock config list'],
]);

/** Adds `config` and its commands. None of them talks to the network. */
export function registerConfig(program: Command, run: Run): void {
  const config = program
    .command('config')
    .summary('keys, URLs and settings of this machine')
    .description('Keys, URLs and settings of this machine. Nothing here talks to the service.')
    .addHelpText('after', help);
  for (const register of [
    registerSetKey,
    registerUnsetKey,
    registerSetUrl,
    registerSet,
    registerGet,
    registerUnset,
    registerList,
    registerPath,
  ]) {
    register(config, run);
  }
}
