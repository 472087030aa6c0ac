import { seededStock } from '../../src/service/seed/stock.ts';
import { openPostgres } from '../../src/service/storage/postgres/postgres-storage.ts';
import { openSqlite } from '../../src/service/storage/sqlite/sqlite-storage.ts';
import { temporaryDatabase } from '../support/postgres.ts';
import { describeStore } from './storage-contract.ts';
import { TestClock, temporaryFile } from './support.ts';

const open = (file: string, pets: number) => openSqlite(file, seededStock({ pets }), new TestClock());

describeStore({
  name: 'SQLite in a file',
  sharesClock: false,
  open: async (pets) => {
    const file = temporaryFile();
    return { storage: await open(file, pets), again: () => open(file, pets) };
  },
});

describeStore({
  name: 'SQLite in memory',
  sharesClock: false,
  open: async (pets) => ({ storage: await open(':memory:', pets), again: null }),
});

describeStore({
  name: 'PostgreSQL',
  sharesClock: true,
  open: async (pets) => {
    const url = await temporaryDatabase();
    const again = () => openPostgres([url], seededStock({ pets }), { now: () => Date.now() + 6_000 });
    return {
      storage: await openPostgres([url], seededStock({ pets }), Date),
      again,
    };
  },
});
