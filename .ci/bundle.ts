import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Options } from 'tsup';

export type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number];

const importers = /[\\/]node_modules[\\/](commander|undici)[\\/]/;

/**
 * What is in the place of modules that these packages load at once for what petstock never does: the name, and the code. Commander
 * starts subcommands that are programs of their own; undici speaks HTTP/2, asks Node's own client for the size of a head, which
 * `src/api/undici.ts` names, takes a form for a body, and plants a tree of the names of headers. Together some 5 ms of CPU.
 */
const replaced: readonly (readonly [name: RegExp, code: string])[] = [
  [/^node:(child_process|http)$|\/client-h2\.js$|\/web\/fetch\/body\.js$/, 'module.exports = {};'],
  [/^\.\/tree$/, 'module.exports = { tree: { lookup() {} } };'],
  [
    /^node:assert$/,
    // All that undici uses of it.
    "module.exports = (holds, words) => { if (!holds) throw new Error(words ?? 'undici: an assertion failed'); };",
  ],
];

export const unused: EsbuildPlugin = {
  name: 'unused',
  setup({ onResolve, onLoad }) {
    for (const [filter, code] of replaced)
      onResolve({ filter }, ({ path, importer }) =>
        importers.test(importer) ? { path, namespace: 'replaced', pluginData: code } : undefined,
      );
    onLoad({ filter: /./, namespace: 'replaced' }, ({ pluginData }) => ({ contents: pluginData }));
  },
};

/** Larger pieces stay scripts of their own: without a cache, V8 reads through all of a script. In bytes. */
const maxPiece = 80_000;

/**
 * Puts the pieces that esbuild splits a program into together again, as functions in one script (`bin/loader.ts`): V8 keeps one
 * cache of a script, and the functions and classes of a piece are made only once something of it is used. Bundled without splitting,
 * `--help` takes 1.4 times the CPU of `node -e 0` in place of 1.2 (Node 20, November 2026).
 *
 * The first line is a hash of the rest, by which caches are told apart. Beside it stands `LICENSES.txt`, which `petstock licenses` prints.
 * @param besides the folders of packages that go with it in bundles of their own
 */
export const oneScript = (besides: readonly string[]): EsbuildPlugin => ({
  name: 'one-script',
  setup({ esbuild, onEnd }) {
    onEnd(async ({ outputFiles = [], metafile }) => {
      const entry = outputFiles.find(({ path }) => basename(path) === 'program.cjs');
      if (entry === undefined) throw new Error('esbuild has made no program.cjs');
      const pieces: string[] = [];
      const scripts: typeof outputFiles = [];
      for (const file of outputFiles) {
        const { code } = await esbuild.transform(file.text, {
          format: 'cjs',
          platform: 'node',
          target: 'node20',
          charset: 'ascii',
          supported: { 'dynamic-import': false },
          minifySyntax: true,
          minifyWhitespace: true,
        });
        const piece = `define("./${basename(file.path)}", function (expose, require) {\n${withoutHelpers(code)}});`;
        if (file !== entry && code.length > maxPiece) scripts.push({ ...file, text: scriptOf([piece]) });
        else pieces.push(piece);
      }
      const contents = Buffer.from(licencesOf([...Object.keys(metafile?.inputs ?? {}), ...besides]));
      scripts.push({ ...entry, path: join(entry.path, '../LICENSES.txt'), contents });
      outputFiles.splice(0, outputFiles.length, { ...entry, text: scriptOf(pieces) }, ...scripts);
    });
  },
});

/**
 * Returns a piece that leaves to the loader what esbuild has each do for itself, which takes 22 M instructions of a list: to copy what it
 * exports and what it imports by `default`, a name at a time.
 */
function withoutHelpers(code: string): string {
  const [, exported, rest] =
    /^.*?;var stdin_exports=\{\};(?:__export\(stdin_exports,(.*?)\);)?module\.exports=__toCommonJS\(stdin_exports\);(.*)$/s.exec(
      code,
    ) ?? [];
  const getters = exported?.replace(/([\w$]+):\(\)=>([\w$.]+)/g, 'get $1(){return $2}') ?? '{}';
  const piece = `expose(${getters});${rest}`.replace(/\b__toESM\((require\("[^"]*")\)(?:,1)?\)/g, '$1,1)');
  if (rest === undefined || getters.includes('=>') || /\b(stdin_exports|__toESM\(require|__reExport)\b/.test(piece))
    throw new Error('esbuild has other helpers');
  return piece;
}

function scriptOf(pieces: readonly string[]): string {
  // esbuild escapes all but regular expressions.
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const code = `(function (__filename, define) {\n${pieces.join('\n')}\n})\n`.replace(/[^\0-\x7f]/g, escaped);
  return `// ${hash('sha256', code)}\n${code}`;
}

/**
 * Returns the licences of what is bundled, which have to go with it: that of petstock, and those of the packages, each with the name of its
 * package above.
 * @param files that are bundled: `node_modules/@clack/core/dist/index.mjs`
 */
export function licencesOf(files: readonly string[]): string {
  const folders = files.flatMap((file) => /^.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0] ?? []);
  const texts = [licenceOf('.'), ...[...new Set(folders.map(licenceOf))].sort()];
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version}\n\n${text}\n`;
}
