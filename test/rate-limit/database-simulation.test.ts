import { describe } from 'vitest';
import { inDatabase } from './simulated-stores.ts';
import { testLimits } from './simulation-properties.ts';

// The simulations run concurrently, because each waits for the database most of the time.
describe.concurrent('limits in a database', () => testLimits(inDatabase()(), 2));
