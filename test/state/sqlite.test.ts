import { onTestFinished } from 'vitest';
import { openState } from '../../src/state/open-state.ts';
import { newFolder } from '../support/new-folder.ts';
import { testState } from './state-contract.ts';

testState('SQLite', () => {
  const folder = newFolder();
  let seed = 0;
  return {
    open: async ({ pid, clock, processes, command = 'test' }) => {
      const random = () => {
        seed = (seed + 0.377) % 1;
        return seed;
      };
      const warn = (line: string) => {
        throw new Error(line);
      };
      const view = processes.view(pid, { boot: clock.boot() });
      const state = await openState({ folder, need: 'history', clock, processes: view, random, command, warn });
      onTestFinished(() => state.close());
      return state;
    },
  };
});
