import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test as plain } from 'vitest';

/** Creates an empty folder, which is removed when the test is finished. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

export const test = plain.extend('folder', () => newFolder());
