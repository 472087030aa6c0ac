import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder, removed after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'petstock-settings-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
