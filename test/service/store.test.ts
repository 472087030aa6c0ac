import { seededStock } from '../../src/service/seed/stock.ts';
import { SqliteStore } from '../../src/service/store/sqlite/sqlite-store.ts';
import { describeStore } from './store-contract.ts';
import { TestClock, temporaryFile } from './support.ts';

const open = (file: string, pets: number) => SqliteStore.open(file, seededStock({ pets }), new TestClock());

describeStore({
  name: 'SQLite in a file',
  sharesControl: false,
  open: async (pets) => {
    const file = temporaryFile();
    return { store: await open(file, pets), again: () => open(file, pets) };
  },
});

describeStore({
  name: 'SQLite in memory',
  sharesControl: false,
  open: async (pets) => ({ store: await open(':memory:', pets), again: null }),
});
