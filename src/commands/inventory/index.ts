import type { Command } from 'commander';
import type { Run } from '../../invocation/invocation.ts';
import { registerAdjust } from './adjust.ts';
import { registerGet } from './get.ts';
import { registerList } from './list.ts';
import { registerSet } from './set.ts';

export function registerInventory(program: Command, run: Run): void {
  const inventory = program.command('inventory').summary('look at and change stock levels');
  inventory.description('Looks at and changes the stock levels of the pets in the store.');
  registerList(inventory, run);
  registerGet(inventory, run);
  registerSet(inventory, run);
  registerAdjust(inventory, run);
}
