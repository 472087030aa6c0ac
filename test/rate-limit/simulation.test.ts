import { describe } from 'vitest';
import { inMemory, inSqlite, shared } from './simulated-stores.ts';
import { testLimits } from './simulation-properties.ts';

describe('limits in memory', () => testLimits(inMemory, 20));

describe('limits in SQLite', () => testLimits(inSqlite, 5));

describe('limits that machines share', () => testLimits(shared, 10));
