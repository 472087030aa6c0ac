/**
 * SQLite for Node before 22.18, which the build bundles by itself: its native binaries are beside it in `dist/prebuilds`. So
 * the package has no dependency, and none with an install script, which npm, pnpm and yarn don't run any more.
 */
export { backup, DatabaseSync } from '@photostructure/sqlite';
