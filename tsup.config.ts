import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'tsup';

/**
 * One ESM bundle, split so that each command loads only what it runs. Everything is bundled but the
 * embedded database, whose native binaries have to stay in their package.
 */
export default defineConfig({
  entry: { petstock: 'bin/petstock.ts', index: 'src/index.ts' },
  format: 'esm',
  target: 'node20',
  platform: 'node',
  splitting: true,
  clean: true,
  dts: { entry: { index: 'src/index.ts' } },
  // tsup gives this precedence over `external`, so the exception has to be in the pattern.
  noExternal: [/^(?!@photostructure\/sqlite$)/],
  removeNodeProtocol: false,
  // CommonJS packages inside an ESM bundle still use what only CommonJS modules are given.
  banner: {
    js: [
      "import { createRequire as __createRequire } from 'node:module';",
      "import { fileURLToPath as __fileURLToPath } from 'node:url';",
      'const require = __createRequire(import.meta.url);',
      'const __filename = __fileURLToPath(import.meta.url);',
      "const __dirname = __fileURLToPath(new URL('.', import.meta.url));",
    ].join(''),
  },
  metafile: true,
  onSuccess: async () => writeLicences('dist'),
});

/** What is bundled is passed on, so its licences go with it: `LICENSES.txt` beside the bundle. */
function writeLicences(folder: string): void {
  const metafile = join(folder, 'metafile-esm.json');
  const inputs = Object.keys(JSON.parse(readFileSync(metafile, 'utf8')).inputs);
  rmSync(metafile);
  const packages = inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? []);
  const texts = [...new Set(packages)].sort().map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? `Licence: ${license}` : readFileSync(join(path, file), 'utf8').trim();
    return `${name} ${version}\n\n${text}\n`;
  });
  writeFileSync(join(folder, 'LICENSES.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`));
}
