import type { TableCommand } from '../src/cli/completion/table.ts';

/** What completion knows of the commands; the build puts it, as text, in the place of this. */
export async function builtTable(): Promise<TableCommand> {
  return (await import('../src/cli/reference/completion-table.ts')).completionTable();
}
