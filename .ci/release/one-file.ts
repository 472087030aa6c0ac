import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsup';
import { licences, unused } from '../bundle.ts';
import { completionTable } from '../reference/completion-table.ts';
import { bunNotice } from './bun-notice.ts';
import { buildConstants } from './commands.ts';

/**
 * Makes one CommonJS file of the program, for an executable: SQLite is that of its runtime.
 *
 * Bundled twice: what the first has taken in, the second has the licences of inside.
 * @param folder where `petstock.cjs` and `LICENSES.txt` are written
 * @param root of the repository
 * @returns the text of the licences, with those of the runtime
 */
export async function bundleOneFile(folder: string, root: string): Promise<string> {
  await bundle(folder, '');
  const text = `${readFileSync(join(folder, 'LICENSES.txt'), 'utf8')}\n${'-'.repeat(80)}\n\n${bunNotice(root)}`;
  await bundle(folder, text);
  return text;
}

async function bundle(folder: string, text: string): Promise<void> {
  const constants = { COMPLETION_TABLE: JSON.stringify(await completionTable()), LICENCES: text };
  // The path of the file on the machine that builds would make each build another one.
  const nowhere = { 'import.meta.url': 'file:///petstock', __filename: '/petstock', __dirname: '/' };
  const define = Object.entries({ ...constants, ...nowhere }).map(([name, value]) => [name, JSON.stringify(value)]);
  await build({
    config: false,
    silent: true,
    entry: { petstock: 'bin/petstock.ts' },
    format: 'cjs',
    platform: 'node',
    target: 'es2023',
    splitting: false,
    outDir: folder,
    noExternal: [/^(?!pg-native$)/],
    removeNodeProtocol: false,
    outExtension: () => ({ js: '.cjs' }),
    define: { ...Object.fromEntries(define), ...buildConstants('.') },
    esbuildPlugins: text === '' ? [unused, licences()] : [unused],
  });
}
