#!/usr/bin/env node
import { start } from './start.ts';

/**
 * The entry point of the npm package, built to `dist/petstock.cjs`. Its other scripts are in the same folder. The
 * compiled code of the program is cached; that of completion is not.
 */
const words = process.argv.slice(2);

void start(words, {
  completion: async () => require('./complete.cjs'),
  // Without the code cache, this would be `require('./program.cjs')`.
  program: async () =>
    (await import('./code-cache.ts')).loadCached<typeof import('./run.ts')>('./program.cjs', words, require),
});
