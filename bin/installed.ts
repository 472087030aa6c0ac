#!/usr/bin/env node
import { start } from './start.ts';

/** Of the package for Node, built to `dist/petstock.cjs`: its other scripts stand beside it, and were compiled by an earlier run. */
const words = process.argv.slice(2);

void start(words, {
  completion: async () => require('./complete.cjs'),
  // Without the cache: `require('./program.cjs')`.
  program: async () => (await import('./code-cache.ts')).loadCached<typeof import('./run.ts')>('./program.cjs', words),
});
