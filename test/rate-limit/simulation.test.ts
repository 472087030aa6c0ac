import { describe } from 'vitest';
import { inMemory, inSqlite, shared } from './simulated-stores.ts';
import { testLimits } from './simulation-properties.ts';

describe('limits in memory', () => testLimits(inMemory, 10));

describe('limits in SQLite', () => testLimits(inSqlite, 2));

describe('limits that machines share', () => testLimits(shared, 4));
