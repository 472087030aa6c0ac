import { build } from 'tsup';
import { licences, unused } from '../bundle.ts';
import { completionTable } from '../reference/completion-table.ts';
import { buildConstants } from './commands.ts';

/**
 * Makes what an executable is compiled of: `petstock.mjs`, with the pieces that it loads when they are wanted, and
 * `LICENSES.txt`. SQLite is that of the runtime.
 * @param root of the repository
 */
export async function bundleForBun(folder: string, root: string): Promise<void> {
  const table = JSON.stringify(await completionTable());
  await build({
    config: false,
    silent: true,
    entry: { petstock: 'bin/petstock.ts' },
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    splitting: true,
    outDir: folder,
    noExternal: [/^(?!pg-native$)/],
    removeNodeProtocol: false,
    outExtension: () => ({ js: '.mjs' }),
    // The path of a file on the machine that builds would make each build another one.
    define: {
      COMPLETION_TABLE: JSON.stringify(table),
      __filename: '"/petstock"',
      __dirname: '"/"',
      ...buildConstants(root),
    },
    esbuildPlugins: [unused, licences()],
  });
}
