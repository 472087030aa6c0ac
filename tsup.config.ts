import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { defineConfig, type Options } from 'tsup';
import { eagerFunctions } from './.ci/eager-functions.ts';
import { allHelp } from './src/cli/help-texts.ts';
import { completionTable } from './src/cli/reference/completion-table.ts';
import { manPage } from './src/cli/reference/man-page.ts';

type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number];

/**
 * Turns the pieces of the program into CommonJS once they are done, since esbuild splits only ES modules. Their loader is
 * slow: as CommonJS `--help` takes 6 ms less, and `inventory list` 8. Minified it would take no less, and a stack trace could not be
 * read. The last line of each piece names what is in it.
 */
const commonJs: EsbuildPlugin = {
  name: 'commonjs',
  setup({ esbuild, onEnd }) {
    onEnd(async ({ metafile, outputFiles = [] }) => {
      if (metafile === undefined) throw new Error('esbuild says nothing of what it has written');
      const archives = planArchives(metafile);
      const pieces = new Map<string, Map<string, string>>();
      for (const file of outputFiles) {
        const { code } = await esbuild.transform(file.text, {
          format: 'cjs',
          platform: 'node',
          target: 'node20',
          supported: { 'dynamic-import': false },
          define: { 'import.meta.url': '__filename' },
        });
        const linked = throughArchives(code, archives);
        const name = basename(file.path);
        const archive = archives.of.get(name);
        if (archive === undefined) {
          const text = linked.includes('__commonJS({') ? eagerFunctions(linked) : linked;
          file.contents = Buffer.from(`${text}${contentsLine(metafile, [name])}`);
        } else pieces.set(archive, (pieces.get(archive) ?? new Map()).set(name, eagerFunctions(linked)));
      }
      const folder = dirname(outputFiles[0]?.path ?? '');
      const alone = outputFiles.filter(({ path }) => !archives.of.has(basename(path)));
      const archived = [...pieces].map(([archive, contents]) => {
        const text = archiveCode(contents) + contentsLine(metafile, [...contents.keys()]);
        return { path: join(folder, archive), text, contents: Buffer.from(text), hash: '' };
      });
      outputFiles.splice(0, outputFiles.length, ...alone, ...archived);
    });
  },
};

/** The last line of a file names what is in it. */
function contentsLine({ outputs }: Bundle, files: readonly string[]): string {
  const inputs = Object.entries(outputs).flatMap(([path, output]) =>
    files.includes(basename(path)) ? Object.keys(output.inputs) : [],
  );
  const names = new Set(inputs.map((input) => packageName(input) ?? input));
  return `// Of: ${[...names].join(' ')}\n`;
}

/**
 * Modules that a bundled package loads at once for what petstock never does; in their place is an empty one. Measured on whole
 * commands, CPU, Node 20.20, November 2026 (median of 40 runs, in turn with the same command as it would be without):
 * - Commander starts subcommands that are programs of their own: `config get` 51.3 to 48.4 ms.
 * - undici speaks HTTP/2 where it is allowed to, asks Node's own client for the size of a head, which `src/api/undici.ts`
 *   names, and takes a form for a body: `inventory list` 128 to 116 ms.
 */
export const unused: EsbuildPlugin = {
  name: 'unused',
  setup({ onResolve, onLoad }) {
    const leaveOut = (filter: RegExp, by: RegExp) =>
      onResolve({ filter }, ({ path, importer }) => (by.test(importer) ? { path, namespace: 'unused' } : undefined));
    leaveOut(/^node:child_process$/, /[\\/]node_modules[\\/]commander[\\/]/);
    leaveOut(/\/client-h2\.js$|^node:http$|\/web\/fetch\/body\.js$/, /[\\/]node_modules[\\/]undici[\\/]/);
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/**
 * Help as text, for the widths of what is no terminal and of a wide one, in a file each: without Commander `--help` takes
 * 16 ms less.
 */
export const quickHelp: EsbuildPlugin = {
  name: 'quick-help',
  setup({ onResolve, onLoad }) {
    const namespace = 'built-help';
    const load = (width: number) => `${width}: () => import('${namespace}:${width}')`;
    onLoad({ filter: /[\\/]bin[\\/]built-help\.ts$/ }, () => ({
      contents: `export const builtHelp = { ${[80, 100].map(load).join(', ')} };`,
    }));
    onResolve({ filter: /^built-help:/ }, ({ path }) => ({ path: path.replace(/^.*:/, ''), namespace }));
    onLoad({ filter: /./, namespace }, async ({ path }) => ({
      contents: `export const texts = ${JSON.stringify(await allHelp(Number(path)))};`,
    }));
  },
};

/** What completion knows of the commands, as text: a shell waits for it at each TAB. V8 reads JSON faster than code. */
export const completion: EsbuildPlugin = {
  name: 'completion',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]bin[\\/]built-table\.ts$/ }, async () => ({
      contents: `export const builtTable = async () => JSON.parse(${JSON.stringify(JSON.stringify(await completionTable()))});`,
    }));
  },
};

/** `man petstock`, beside the bundle. A build that is to be the same another day names its day in SOURCE_DATE_EPOCH. */
const manual: EsbuildPlugin = {
  name: 'manual',
  setup({ initialOptions, onEnd }) {
    onEnd(async () => {
      const { outdir } = initialOptions;
      if (outdir === undefined) return;
      const { SOURCE_DATE_EPOCH: seconds } = process.env;
      const day = seconds === undefined ? new Date() : new Date(Number(seconds) * 1000);
      mkdirSync(join(outdir, 'man'), { recursive: true });
      writeFileSync(join(outdir, 'man', 'petstock.1'), await manPage(day.toISOString().slice(0, 10)));
    });
  },
};

const sqlitePackage = '@photostructure/sqlite';

/** Where `bin/sqlite.ts` is built to, seen from the program and the library. */
const builtSqlite = './sqlite/index.cjs';

/** Its folder, and that of what it loads its binaries by. Only npm is sure to put the second into our own `node_modules`. */
const sqliteFolder = installedAt(sqlitePackage, resolve('package.json'));
const loaderFolder = installedAt('node-gyp-build', join(sqliteFolder, 'package.json'));

/** @param from the file that asks for the package */
function installedAt(name: string, from: string): string {
  return dirname(createRequire(from).resolve(`${name}/package.json`));
}

/** Takes the SQLite that is built in place of that of `node_modules`. The service asks for it by a \`require\` of its own. */
const besideSqlite: EsbuildPlugin = {
  name: 'beside-sqlite',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@photostructure\/sqlite$/ }, () => ({ path: builtSqlite, external: true }));
    onLoad({ filter: /[\\/]service[\\/]store[\\/]sqlite[\\/]engine\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const contents = source.replace(`('${sqlitePackage}')`, `('${builtSqlite}')`);
      if (contents === source) throw new Error(`${path} does not ask for ${sqlitePackage}`);
      return { contents, loader: 'ts' };
    });
  },
};

/** Its code as CommonJS, and its native binaries where node-gyp-build looks for them: beside the folder of the code that asks. */
const prebuilds: EsbuildPlugin = {
  name: 'prebuilds',
  setup({ initialOptions, onResolve, onEnd }) {
    onResolve({ filter: /^@photostructure\/sqlite$/ }, () => ({
      path: join(sqliteFolder, 'dist/index.cjs'),
    }));
    onEnd(() => {
      if (initialOptions.outdir === undefined) return;
      cpSync(join(sqliteFolder, 'prebuilds'), join(initialOptions.outdir, 'prebuilds'), { recursive: true });
    });
  },
};

/**
 * What is bundled is passed on, so its licences go with it: `LICENSES.txt` beside the bundle, which `petstock licenses` prints.
 * @param besides the folders of packages that go with it in bundles of their own
 */
export const licences = (besides: readonly string[] = []): EsbuildPlugin => ({
  name: 'licences',
  setup({ initialOptions, onEnd }) {
    onEnd(({ metafile }) => {
      const { outdir } = initialOptions;
      if (metafile === undefined || outdir === undefined) return;
      const bundled = Object.keys(metafile.inputs).flatMap((input) => packageFolder(input) ?? []);
      // Each begins with the name of its package, whatever folder that is in.
      const texts = [licenceOf('.'), ...[...new Set([...bundled, ...besides].map(licenceOf))].sort()];
      mkdirSync(outdir, { recursive: true });
      writeFileSync(join(outdir, 'LICENSES.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`));
    });
  },
});

function packageName(input: string): string | undefined {
  return packageFolder(input)?.replace(/^.*node_modules\//, '');
}

/** `node_modules/@clack/core`, of a file in it. */
function packageFolder(input: string): string | undefined {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version}\n\n${text}\n`;
}

/** Everything is bundled but a package that `pg` can do without. */
const both = {
  format: 'esm',
  target: 'node20',
  platform: 'node',
  splitting: true,
  // Three builds write here at once, and what is made of them stays.
  clean: ['!sqlite/**', '!prebuilds/**', '!binaries/**', '!packages/**', '!release/**'],
  // tsup gives this precedence over `external`, so the exception has to be in the pattern.
  noExternal: [/^(?!pg-native$)/],
  removeNodeProtocol: false,
} satisfies Options;

/** What esbuild says of the files that it has made, as far as it is needed here. */
interface Bundle {
  readonly outputs: Readonly<Record<string, Output>>;
}

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
  request: ['src/cli/invocation/connect.ts', 'src/api/undici-handler.ts'],
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
  {
    ...both,
    name: 'program',
    entry: { petstock: 'bin/petstock.ts' },
    outExtension: () => ({ js: '.cjs' }),
    esbuildPlugins: [
      besideSqlite,
      unused,
      quickHelp,
      completion,
      commonJs,
      licences([sqliteFolder, loaderFolder]),
      manual,
    ],
  },
  {
    ...both,
    name: 'library',
    entry: { index: 'src/library/index.ts' },
    dts: { entry: { index: 'src/library/index.ts' } },
    esbuildPlugins: [besideSqlite],
    // CommonJS packages inside an ESM bundle still use what only CommonJS modules are given.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
    },
  },
  {
    ...both,
    name: 'sqlite',
    entry: { 'sqlite/index': 'bin/sqlite.ts' },
    format: 'cjs',
    splitting: false,
    outExtension: () => ({ js: '.cjs' }),
    esbuildPlugins: [prebuilds],
  },
]);
