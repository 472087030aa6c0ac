#!/usr/bin/env node
import { start } from './start.ts';

/** The entry point from source (`npm run dev`), which uses no code cache. */
void start(process.argv.slice(2), {
  completion: () => import('./complete.ts'),
  program: () => import('./run.ts'),
});
