import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from 'tsup';

type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number];

/** Parts that few commands use, as scripts of their own: V8 scans a whole script before running it. */
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
 * Stubs for the modules that packages load for features that petstock never uses. undici could use HTTP/2, which takes
 * half of the CPU of `node -e 0` on Node 22 and 24. conf could check a schema, but gets none.
 */
export const alias = {
  'node:http2': './.ci/stubs/http2.ts',
  'ajv/dist/2020.js': './.ci/stubs/ajv.ts',
  'ajv-formats': './.ci/stubs/ajv.ts',
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
