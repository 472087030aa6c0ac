import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Options } from 'tsup';

type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number];

/** Parts that few commands use. They are scripts of their own beside `program.cjs`, because V8 scans a whole script before running it. */
export const apart = { service: 'src/service/index.ts', proxy: 'src/api/undici-proxy.ts' };

/** A plugin that replaces the program's imports of these parts with the built files, such as `./service.cjs`. */
export const importedApart: EsbuildPlugin = {
  name: 'apart',
  setup({ onResolve }) {
    for (const [name, filter] of [
      ['service', /\/service\/index\.ts$/],
      ['proxy', /\/undici-proxy\.ts$/],
    ] as const)
      onResolve({ filter }, ({ kind }) =>
        kind === 'entry-point' ? undefined : { path: `./${name}.cjs`, external: true },
      );
  },
};

/**
 * The modules that a package loads for features that petstock never uses, and the stubs that replace them. Of the CPU of
 * `node -e 0`, undici's HTTP/2 takes half on Node 22 and 24, Commander's subcommands that are separate programs take a
 * sixth, and undici's bodies from Node's HTTP server take a tenth. conf could check a schema, but gets none.
 */
const stubs: readonly (readonly [name: string, importer: string, stub: string])[] = [
  ['node:http2', 'undici', 'http2.ts'],
  ['node:http', 'undici', 'http.ts'],
  ['node:child_process', 'commander', 'child-process.ts'],
  ['ajv/dist/2020.js', 'conf', 'ajv.ts'],
  ['ajv-formats', 'conf', 'ajv.ts'],
];

/** Replaces the modules of `stubs` where these packages import them. */
export const stubbed: EsbuildPlugin = {
  name: 'stubbed',
  setup({ onResolve }) {
    for (const [name, importer, stub] of stubs)
      onResolve({ filter: new RegExp(`^${name}$`) }, (args) =>
        new RegExp(`node_modules[\\\\/]${importer}[\\\\/]`).test(args.importer)
          ? { path: resolve('.ci/stubs', stub) }
          : undefined,
      );
  },
};

/**
 * Returns the licences that have to be shipped: petstock's own, and those of the bundled packages, each below the name
 * of its package.
 * @param files the bundled files, such as `node_modules/commander/index.js`
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
