import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Options } from 'tsup';
import { completion, licences, quickHelp, unused } from '../../tsup.config.ts';
import { bunNotice } from './bun-notice.ts';

type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number];

/**
 * Makes one CommonJS file of the program, for an executable: SQLite is that of its runtime.
 *
 * Bundled twice: what the first has taken in, the second has the licences of inside.
 * @param folder where `petstock.cjs` and `LICENSES.txt` are written
 * @returns the text of the licences
 */
export async function bundleOneFile(folder: string): Promise<string> {
  await bundle(folder, [licences()]);
  const text = `${readFileSync(join(folder, 'LICENSES.txt'), 'utf8')}\n${'-'.repeat(80)}\n\n${bunNotice}`;
  await bundle(folder, [licencesInside(text)]);
  return text;
}

async function bundle(folder: string, plugins: readonly EsbuildPlugin[]): Promise<void> {
  await build({
    config: false,
    silent: true,
    entry: { petstock: 'bin/petstock.ts' },
    format: 'cjs',
    platform: 'node',
    target: 'es2023',
    splitting: false,
    outDir: folder,
    noExternal: [/^(?!(@photostructure\/sqlite|pg-native)$)/],
    removeNodeProtocol: false,
    outExtension: () => ({ js: '.cjs' }),
    esbuildPlugins: [unused, quickHelp, completion, ...plugins],
    esbuildOptions(options) {
      // The path of the file on the machine that builds would make each build another one.
      const nowhere = { 'import.meta.url': '"file:///petstock"', __filename: '"/petstock"', __dirname: '"/"' };
      options.define = { ...options.define, ...nowhere };
    },
  });
}

function licencesInside(text: string): EsbuildPlugin {
  return {
    name: 'licences-inside',
    setup({ onLoad }) {
      const contents = `export const readLicences = async () => ${JSON.stringify(text)};`;
      onLoad({ filter: /[\\/]bin[\\/]licences\.ts$/ }, () => ({ contents }));
    },
  };
}
