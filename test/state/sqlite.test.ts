import { onTestFinished } from 'vitest';
import { openState } from '../../src/state/open-state.ts';
import { newFolder } from '../support/new-folder.ts';
import { steps } from './rig.ts';
import { testState } from './state-contract.ts';

testState('SQLite', () => {
  const folder = newFolder();
  const random = steps();
  const warn = (line: string) => {
    throw new Error(line);
  };
  return {
    open: async ({ pid, clock, processes: all }) => {
      const processes = all.view(pid, { boot: clock.boot() });
      const state = await openState({ folder, need: 'history', clock, processes, random, command: 'test', warn });
      onTestFinished(() => state.close());
      return state;
    },
  };
});
