import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished, test as plain } from 'vitest';

/** A new folder, removed after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'petstock-settings-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A test that is given such a folder. */
export const test = plain.extend('folder', () => tempFolder());
