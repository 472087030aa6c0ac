import { SqliteStore } from '../../src/service/store/sqlite-store.ts';
import { describeStore } from './store-contract.ts';
import { temporaryFile } from './support.ts';

describeStore({
  name: 'SQLite in a file',
  open: async (pets) => {
    const file = temporaryFile();
    return { store: await SqliteStore.open(file, pets, 1), again: () => SqliteStore.open(file, pets, 1) };
  },
});

describeStore({
  name: 'SQLite in memory',
  open: async (pets) => ({ store: await SqliteStore.open(':memory:', pets, 1), again: null }),
});
