import { describe } from 'vitest';
import { inMemory, onFile } from './simulated-stores.ts';
import { testLimits } from './simulation-properties.ts';

describe('limits in memory', () => testLimits(inMemory(), 20));

describe('limits in one file', () => testLimits(onFile(), 5));
