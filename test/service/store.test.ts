import { seededStock } from '../../src/service/seed/stock.ts';
import { openPostgres } from '../../src/service/store/postgres/postgres-store.ts';
import { openSqlite } from '../../src/service/store/sqlite/sqlite-store.ts';
import { temporaryDatabase } from '../support/postgres.ts';
import { describeStore } from './store-contract.ts';
import { TestClock, temporaryFile } from './support.ts';

const open = (file: string, pets: number) => openSqlite(file, seededStock({ pets }), new TestClock());

describeStore({
  name: 'SQLite in a file',
  sharesClock: false,
  open: async (pets) => {
    const file = temporaryFile();
    return { store: await open(file, pets), again: () => open(file, pets) };
  },
});

describeStore({
  name: 'SQLite in memory',
  sharesClock: false,
  open: async (pets) => ({ store: await open(':memory:', pets), again: null }),
});

describeStore({
  name: 'PostgreSQL',
  sharesClock: true,
  open: async (pets) => {
    const url = await temporaryDatabase();
    const again = () => openPostgres([url], seededStock({ pets }), { now: () => Date.now() + 6_000 });
    return {
      store: await openPostgres([url], seededStock({ pets }), Date),
      again,
    };
  },
});
