import { UsageError } from '../../../shared/errors.ts';
import { requireFileName } from '../values.ts';

/** @throws UsageError for no name, or for one that promises something else: `apply` would believe it */
export function requireCsvName(file: string, what: string): void {
  requireFileName(file, what);
  const [extension] = /\.(json|ndjson|jsonl|xlsx?|ods)$/i.exec(file) ?? [];
  if (extension === undefined) return;
  throw new UsageError(`${what} writes CSV, and ${file} would be taken for something else: name it .csv`);
}
