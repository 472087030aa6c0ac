#!/usr/bin/env node
import { start } from './start.ts';

/** The entry of the sources (`npm run dev`) and of the executables, whose runtime has its own bytecode. */
void start(process.argv.slice(2), {
  completion: () => import('./complete.ts'),
  program: () => import('./run.ts'),
});
