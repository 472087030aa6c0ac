import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of a benchmark's own. */
export interface Folder {
  readonly path: string;
  remove(): void;
}

const folders = new Set<string>();

/** Nor does a folder outlive the benchmark that was interrupted. */
process.on('exit', () => {
  for (const path of folders) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
});

/** @param parent has to be there */
export function temporaryFolder(parent = tmpdir()): Folder {
  const path = mkdtempSync(join(parent, 'petstock-bench-'));
  folders.add(path);
  return {
    path,
    remove: () => {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      folders.delete(path);
    },
  };
}
