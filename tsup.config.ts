import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineConfig, type Options } from 'tsup';
import { oneScript, unused } from './.ci/bundle.ts';
import { buildConstants, committedAt } from './.ci/commands.ts';
import { completionTable } from './test/support/reference/completion-table.ts';
import { manPage } from './test/support/reference/man-page.ts';

/** The folder of the package, which yarn's Plug'n'Play has elsewhere. */
const sqlite = dirname(createRequire(import.meta.url).resolve('@photostructure/sqlite/package.json'));

/** Everything is bundled but a package that `pg` can do without. */
const all = {
  target: 'node20',
  // These builds write here at once, and what is made of them stays, in folders.
  clean: ['!*/**'],
  external: ['./complete.cjs'],
  // tsup gives this precedence over `external`, so the exceptions have to be in the pattern.
  noExternal: [/^(?!(pg-native|\.\/complete\.cjs)$)/],
  removeNodeProtocol: false,
  define: { SQLITE: '"prebuilds"', ...buildConstants('.') },
} satisfies Options;

const commonJs = {
  ...all,
  outExtension: () => ({ js: '.cjs' }),
  define: { ...all.define, 'import.meta.filename': '__filename', 'import.meta.url': '__filename' },
} satisfies Options;

export default defineConfig(async ({ outDir = 'dist' }) => [
  {
    ...commonJs,
    name: 'start',
    entry: { petstock: 'bin/installed.ts', complete: 'bin/complete.ts' },
    format: 'cjs',
    // V8 reads through all of it at each start.
    minifyWhitespace: true,
    minifySyntax: true,
    define: { ...commonJs.define, COMPLETION_TABLE: JSON.stringify(JSON.stringify(await completionTable())) },
  },
  {
    ...commonJs,
    name: 'program',
    entry: { program: 'bin/run.ts' },
    format: 'esm',
    esbuildPlugins: [unused, oneScript([sqlite])],
    // The native binaries of SQLite and the manual stand beside the program.
    onSuccess: async () => {
      cpSync(join(sqlite, 'prebuilds'), join(outDir, 'prebuilds'), { recursive: true });
      mkdirSync(join(outDir, 'man'), { recursive: true });
      writeFileSync(join(outDir, 'man', 'petstock.1'), await manPage(committedAt()));
    },
  },
  {
    ...all,
    name: 'library',
    entry: { index: 'src/library/index.ts' },
    format: 'esm',
    dts: {
      entry: { index: 'src/library/index.ts' },
      banner: '/// <reference lib="esnext.disposable" />',
      // `npm run typecheck` checks: without it here, the build takes 7 s in place of 15. What can't be declared still fails.
      compilerOptions: { noCheck: true, noEmitOnError: false },
    },
    // CommonJS packages inside an ESM bundle still ask for modules of Node, also if a program bundles it as CommonJS once more.
    banner: { js: 'const require = process.getBuiltinModule;' },
  },
]);
