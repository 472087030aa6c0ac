import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Options } from 'tsup';
import { atEnd, type EsbuildPlugin, licences, oneScript, unused } from './.ci/bundle.ts';
import { completionTable } from './.ci/reference/completion-table.ts';
import { manPage } from './.ci/reference/man-page.ts';
import { buildConstants, committedAt } from './.ci/commands.ts';

const sqlite = 'node_modules/@photostructure/sqlite';

/** Puts the native binaries of SQLite beside the program. */
const prebuilds = atEnd('prebuilds', (outdir) =>
  cpSync(join(sqlite, 'prebuilds'), join(outdir, 'prebuilds'), { recursive: true }),
);

/** `man petstock`, beside the bundle, with the day of the commit or of SOURCE_DATE_EPOCH: another build is the same. */
const manual = atEnd('manual', async (outdir) => {
  const day = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? committedAt()) * 1000);
  mkdirSync(join(outdir, 'man'), { recursive: true });
  writeFileSync(join(outdir, 'man', 'petstock.1'), await manPage(day.toISOString().slice(0, 10)));
});

/** `node:process` by its global name: for an import by default, esbuild copies all that it has, 4 M instructions at each start. */
const globalProcess: EsbuildPlugin = {
  name: 'global-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:process$/ }, () => ({ path: 'process', namespace: 'global' }));
    onLoad({ filter: /./, namespace: 'global' }, () => ({ contents: 'export default process;' }));
  },
};

/** Everything is bundled but a package that `pg` can do without. */
const all = {
  target: 'node20',
  platform: 'node',
  // These builds write here at once, and what is made of them stays.
  clean: ['!prebuilds/**', '!binaries/**', '!packages/**', '!release/**'],
  external: ['./complete.cjs'],
  // tsup gives this precedence over `external`, so the exceptions have to be in the pattern.
  noExternal: [/^(?!(pg-native|\.\/complete\.cjs)$)/],
  removeNodeProtocol: false,
  define: { SQLITE: '"prebuilds"', ...buildConstants('.') },
} satisfies Options;

const commonJs = { ...all, format: 'cjs', splitting: false, outExtension: () => ({ js: '.cjs' }) } satisfies Options;

export default defineConfig(async () => [
  {
    ...commonJs,
    name: 'start',
    entry: { petstock: 'bin/installed.ts', complete: 'bin/complete.ts' },
    // V8 reads through all of it at each start.
    minifyWhitespace: true,
    minifySyntax: true,
    define: {
      ...all.define,
      'import.meta.filename': '__filename',
      'import.meta.url': '__filename',
      COMPLETION_TABLE: JSON.stringify(JSON.stringify(await completionTable())),
    },
    esbuildPlugins: [manual, globalProcess],
  },
  {
    ...commonJs,
    name: 'program',
    entry: { program: 'bin/run.ts' },
    format: 'esm',
    splitting: true,
    esbuildPlugins: [unused, oneScript, prebuilds, licences([sqlite])],
  },
  {
    ...all,
    name: 'library',
    entry: { index: 'src/library/index.ts' },
    format: 'esm',
    splitting: true,
    dts: {
      entry: { index: 'src/library/index.ts' },
      banner: '/// <reference lib="esnext.disposable" />',
      // `npm run typecheck` checks: without it here, the build takes 7 s in place of 15. What can't be declared still fails.
      compilerOptions: { noCheck: true, noEmitOnError: false },
    },
    // CommonJS packages inside an ESM bundle still use what only CommonJS modules are given.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
    },
  },
]);
