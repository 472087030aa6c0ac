import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from 'tsup';

type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number];

/** What few commands use: scripts of their own beside `program.cjs`, since V8 reads through all of a script. */
export const apart = { service: 'src/service/index.ts', proxy: 'src/api/undici-proxy.ts' };

/** Has the program import them as what they are built to: `./service.cjs`. */
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
 * What is in the place of modules that packages load for what petstock never does. undici speaks HTTP/2, which costs half of what Node itself takes to
 * start on 22 and 24; conf checks a schema, which it is not given.
 */
export const alias = {
  'node:http2': './.ci/stubs/http2.ts',
  'ajv/dist/2020.js': './.ci/stubs/ajv.ts',
  'ajv-formats': './.ci/stubs/ajv.ts',
};

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
