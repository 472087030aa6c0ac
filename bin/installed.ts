#!/usr/bin/env node
import { start } from './start.ts';

/** Of the package for Node, built to `dist/petstock.cjs`: the program is in one script beside it, compiled by an earlier run. */
const words = process.argv.slice(2);

void start(words, {
  completion: async () => require('./complete.cjs'),
  program: async () => {
    const [{ openCodeCache }, { createLoader }] = await Promise.all([import('./code-cache.ts'), import('./loader.ts')]);
    const cache = openCodeCache(words, process.env);
    const load = createLoader(__dirname, require, cache);
    if (cache !== undefined) process.once('exit', (code) => code === 0 && cache.keep());
    return load('./program.cjs') as typeof import('./run.ts');
  },
});
