import { defineConfig } from 'vitest/config';

/** What `npm run mutation` runs: the tests of the rooms that it changes, and of the commands above them. */
export default defineConfig({
  test: {
    include: ['test/{state,writes,shared}/**/*.test.ts', 'test/cli/commands/**/*.test.ts'],
    globalSetup: ['test/support/not-as-root.ts'],
    env: { TZ: 'America/New_York' },
  },
});
