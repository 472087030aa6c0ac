import { run } from './run.ts';

/** The entry point from source (`npm run dev`), which uses no code cache and completes no words. */
process.exitCode = await run();
