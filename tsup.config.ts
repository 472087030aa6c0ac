import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineConfig } from 'tsup';
import { alias, apart, importedApart, licencesOf } from './.ci/bundle.ts';
import { buildConstants, committedAt } from './.ci/commands.ts';
import { completionTable } from './.ci/reference/completion-table.ts';
import { manPage } from './.ci/reference/man-page.ts';

/** The binaries of SQLite. */
const { resolve } = createRequire(import.meta.url);
const binaries = join(dirname(resolve('@photostructure/sqlite/package.json')), 'prebuilds');

export default defineConfig(async ({ outDir = 'dist' }) => [
  {
    target: 'node20',
    // What is made of the build is in subfolders, which are not removed.
    clean: ['!*/**'],
    // Everything is bundled, except a package that `pg` can do without. tsup gives this precedence over `external`, so
    // the exceptions have to be in the pattern.
    noExternal: [/^(?!(pg-native|\.\/(answer-shell|program)\.cjs)$)/],
    external: ['./answer-shell.cjs', './program.cjs'],
    removeNodeProtocol: false,
    entry: {
      petstock: 'bin/installed.ts',
      'answer-shell': 'bin/answer-shell.ts',
      program: 'bin/run.ts',
      // The package looks for `prebuilds` in the folder above its script.
      'sqlite/index': resolve('@photostructure/sqlite'),
      ...apart,
    },
    format: 'cjs',
    outExtension: () => ({ js: '.cjs' }),
    define: {
      SQLITE: '"./sqlite/index.cjs"',
      ...buildConstants('.'),
      'import.meta.filename': '__filename',
      'import.meta.dirname': '__dirname',
      'import.meta.url': '__filename',
      COMPLETION_TABLE: JSON.stringify(JSON.stringify(await completionTable())),
    },
    // V8 scans a whole script at each start, so scripts are minified. The stacks of `--debug` then have short names;
    // the same build with `--sourcemap` has the long ones.
    minify: true,
    esbuildOptions: (options) => {
      options.alias = alias;
      // A script that is loaded with a code cache is not a module of Node, so it can't use Node's `import()`.
      options.supported = { 'dynamic-import': false };
      options.legalComments = 'none';
    },
    esbuildPlugins: [importedApart],
    metafile: true,
    // The native binaries of SQLite, the manual and the licences are beside the program.
    onSuccess: async () => {
      cpSync(binaries, join(outDir, 'prebuilds'), { recursive: true });
      mkdirSync(join(outDir, 'man'), { recursive: true });
      writeFileSync(join(outDir, 'man', 'petstock.1'), await manPage(committedAt()));
      const metafile = join(outDir, 'metafile-cjs.json');
      const { inputs } = JSON.parse(readFileSync(metafile, 'utf8'));
      writeFileSync(join(outDir, 'LICENSES.txt'), licencesOf(Object.keys(inputs)));
      rmSync(metafile);
    },
  },
]);
