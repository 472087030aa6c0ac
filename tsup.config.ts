import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { defineConfig, type Options } from 'tsup';
import { type EsbuildPlugin, licences, oneScript, unused } from './.ci/bundle.ts';
import { completionTable } from './.ci/reference/completion-table.ts';
import { manPage } from './.ci/reference/man-page.ts';

/** Its folder, and that of what it loads its binaries by. Only npm is sure to put the second into our own `node_modules`. */
const sqliteFolder = installedAt('@photostructure/sqlite', resolve('package.json'));
const loaderFolder = installedAt('node-gyp-build', join(sqliteFolder, 'package.json'));

/** @param from the file that asks for the package */
function installedAt(name: string, from: string): string {
  return dirname(createRequire(from).resolve(`${name}/package.json`));
}

/** Puts the native binaries of SQLite where node-gyp-build looks for them: beside the folder of the code that asks. */
const prebuilds: EsbuildPlugin = {
  name: 'prebuilds',
  setup({ initialOptions: { outdir = '' }, onEnd }) {
    onEnd(() => cpSync(join(sqliteFolder, 'prebuilds'), join(outdir, 'prebuilds'), { recursive: true }));
  },
};

/** `man petstock`, beside the bundle. A build that is to be the same another day names its day in SOURCE_DATE_EPOCH. */
const manual: EsbuildPlugin = {
  name: 'manual',
  setup({ initialOptions: { outdir = '' }, onEnd }) {
    onEnd(async () => {
      const { SOURCE_DATE_EPOCH: seconds } = process.env;
      const day = seconds === undefined ? new Date() : new Date(Number(seconds) * 1000);
      mkdirSync(join(outdir, 'man'), { recursive: true });
      writeFileSync(join(outdir, 'man', 'petstock.1'), await manPage(day.toISOString().slice(0, 10)));
    });
  },
};

/** Everything is bundled but a package that `pg` can do without, and SQLite, which has a bundle of its own. */
const all = {
  target: 'node20',
  platform: 'node',
  // These builds write here at once, and what is made of them stays.
  clean: ['!sqlite/**', '!prebuilds/**', '!binaries/**', '!packages/**', '!release/**'],
  external: ['./complete.cjs'],
  // tsup gives this precedence over `external`, so the exceptions have to be in the pattern.
  noExternal: [/^(?!(pg-native|\.\/complete\.cjs)$)/],
  removeNodeProtocol: false,
  define: { SQLITE: '"./sqlite/index.cjs"' },
} satisfies Options;

const commonJs = { ...all, format: 'cjs', splitting: false, outExtension: () => ({ js: '.cjs' }) } satisfies Options;

<<<<<<< HEAD
export default defineConfig(async () => [
=======
interface Output {
  readonly bytes: number;
  readonly entryPoint?: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
}

/**
 * Each of these modules begins a stage, which loads all of its pieces. The pieces of a stage go into one file, since Node takes
 * 0.2 to 0.5 ms for a file, whatever is in it, and nearly all of their functions run.
 */
const stages = {
  start: ['bin/run.ts'],
  command: ['src/cli/invocation/open.ts'],
  print: ['src/output/json.ts', 'src/output/delimited.ts', 'src/output/item-lines.ts'],
  state: ['src/state/open-state.ts'],
  request: ['src/cli/invocation/connect.ts'],
};

/**
 * What only the commands of one of these nouns load goes into one file: npx unpacks the package four times, at 2 ms of CPU and more a
 * file, and these are waited for less often than the others.
 */
const nouns = ['config', 'history', 'sandbox', 'state'];

/** As `largestPiece`, for them. */
const largestOfNoun = 8000;

/** What they load stays in files of its own: `--version` and completion, which a shell waits for, load nothing else. */
const apart = [
  'bin/petstock.ts',
  'bin/complete.ts',
  'bin/folders.ts',
  'src/cli/completion/knowledge.ts',
  'src/state/recent-runs.ts',
];

/** A larger piece would be read by those that don't need it. In bytes of the ES module. */
const largestPiece = 100_000;

interface Archives {
  /** The archive of a piece, by the names of both. */
  readonly of: ReadonlyMap<string, string>;
}

/** Which pieces of the program go into which archive. Those of a package stay alone. */
function planArchives({ outputs }: Bundle): Archives {
  const of = new Map<string, string>();
  const seen = new Set<string>();
  const visit = (path: string, archive: string | undefined) => {
    const output = outputs[path];
    if (output === undefined || seen.has(path)) return;
    seen.add(path);
    const isOurs =
      archive !== undefined && Object.keys(output.inputs).every((input) => !input.includes('node_modules/'));
    const isInStage = output.entryPoint === undefined || isStage(output.entryPoint);
    if (isInStage && isOurs && output.bytes <= largestPiece) of.set(basename(path), archive);
    for (const { path: imported, kind } of output.imports) if (kind === 'import-statement') visit(imported, archive);
  };
  const begin = (entry: string, archive: string | undefined) => {
    const found = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === entry);
    if (found === undefined) throw new Error(`the bundle has no piece that begins with ${entry}`);
    visit(found, archive);
  };
  for (const entry of apart) begin(entry, undefined);
  for (const [stage, entries] of Object.entries(stages)) {
    for (const entry of entries) begin(entry, `pieces-${stage}.cjs`);
  }
  for (const [path, noun] of piecesOfNouns(outputs)) {
    if (!seen.has(path)) of.set(basename(path), `commands-${noun}.cjs`);
  }
  return { of };
}

function isStage(entryPoint: string): boolean {
  return Object.values(stages).flat().includes(entryPoint);
}

/** The small pieces that begin with a command of a noun, or are loaded by no others. */
function piecesOfNouns(outputs: Bundle['outputs']): ReadonlyMap<string, string> {
  const users = new Map<string, Set<string>>();
  const visit = (path: string, user: string) => {
    const known = users.get(path) ?? new Set();
    if (outputs[path] === undefined || known.has(user)) return;
    users.set(path, known.add(user));
    for (const { path: imported, kind } of outputs[path].imports)
      if (kind === 'import-statement') visit(imported, user);
  };
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    if (entryPoint !== undefined) visit(path, /^src\/cli\/commands\/(\w+)\//.exec(entryPoint)?.[1] ?? path);
  }
  const isSmall = (path: string) =>
    (outputs[path]?.bytes ?? 0) <= largestOfNoun &&
    Object.keys(outputs[path]?.inputs ?? {}).every((input) => !input.includes('node_modules/'));
  const found = [...users].flatMap(([path, [noun = '', ...others]]) =>
    others.length === 0 && nouns.includes(noun) && isSmall(path) ? [[path, noun] as const] : [],
  );
  return new Map(found);
}

/** The code of a piece with its `require` of other pieces going to their archives. */
function throughArchives(code: string, { of }: Archives): string {
  return code.replaceAll(/require\("\.\/([^"]+)"\)/g, (whole, name: string) => {
    const archive = of.get(name);
    return archive === undefined ? whole : `require("./${archive}")("${name}")`;
  });
}

/** The file of an archive: each piece is a function, which is run when it is first asked for. In brackets it is compiled with the file. */
function archiveCode(pieces: ReadonlyMap<string, string>): string {
  const functions = [...pieces].map(
    ([name, code]) => `"${name}": (function (module, exports) {\n${withoutNote(code)}})`,
  );
  return `"use strict";
const modules = new Map();
module.exports = (name) => {
  let module = modules.get(name);
  if (module === undefined) {
    module = { exports: {} };
    modules.set(name, module);
    pieces[name](module, module.exports);
  }
  return module.exports;
};
const pieces = {
${functions.join(',\n')}
};
`;
}

/** esbuild's list of names for ES modules that import the file: none does. */
function withoutNote(code: string): string {
  return code.replace(/\/\/ Annotate the CommonJS names[^\n]*\n0 && \(module\.exports = \{[^}]*\}\);\n/, '');
}

export default defineConfig([
>>>>>>> b4d10b5 (Build without the piece that is part of undici's now)
  {
    ...commonJs,
    name: 'start',
    entry: { petstock: 'bin/installed.ts', complete: 'bin/complete.ts' },
    define: {
      ...all.define,
      'import.meta.url': '__filename',
      COMPLETION_TABLE: JSON.stringify(JSON.stringify(await completionTable())),
    },
    esbuildPlugins: [manual],
  },
  {
    ...commonJs,
    name: 'program',
    entry: { program: 'bin/run.ts' },
    format: 'esm',
    splitting: true,
    esbuildPlugins: [unused, oneScript, licences([sqliteFolder, loaderFolder])],
  },
  {
    ...all,
    name: 'library',
    entry: { index: 'src/library/index.ts' },
    format: 'esm',
    splitting: true,
    dts: { entry: { index: 'src/library/index.ts' } },
    // CommonJS packages inside an ESM bundle still use what only CommonJS modules are given.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
    },
  },
  {
    ...commonJs,
    name: 'sqlite',
    entry: { 'sqlite/index': join(sqliteFolder, 'dist/index.cjs') },
    esbuildPlugins: [prebuilds],
  },
]);
