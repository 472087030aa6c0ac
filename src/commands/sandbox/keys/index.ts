import type { Command } from 'commander';
import type { Run } from '../../../invocation/invocation.ts';
import { registerCreate } from './create.ts';
import { registerList } from './list.ts';
import { registerRevoke } from './revoke.ts';

export function registerKeys(sandbox: Command, run: Run): void {
  const keys = sandbox.command('keys').summary('issue, list and revoke keys of the embedded service');
  keys.description('Issues, lists and revokes keys of the embedded service, while it is served or not.');
  registerCreate(keys, run);
  registerList(keys, run);
  registerRevoke(keys, run);
}
