import { vi } from 'vitest';
import { newDatabase } from '../support/postgres.ts';
import { type SharedStore, sharedStore } from './postgres-rig.ts';
import type { StateClock } from './rig.ts';
import { testState } from './state-contract.ts';

/** The first test also starts the server. */
vi.setConfig({ hookTimeout: 60_000, testTimeout: 60_000 });
let database: Promise<string> | undefined;

testState('PostgreSQL', () => {
  let latest: StateClock | undefined;
  let store: Promise<SharedStore> | undefined;
  const now = () => latest?.now() ?? 0;
  const begin = async () => {
    database ??= newDatabase();
    return sharedStore(now, await database);
  };
  return {
    idle: async () => (await store)?.idle(),
    open: async (options) => {
      latest = options.clock;
      store ??= begin();
      return (await store).open(options);
    },
  };
});
