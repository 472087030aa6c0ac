import { describe } from 'vitest';
import { inDatabase } from './simulated-stores.ts';
import { testLimits } from './simulation-properties.ts';

describe('limits in a database', () => testLimits(inDatabase(), 2));
