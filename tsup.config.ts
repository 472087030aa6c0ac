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
});
