import { UsageError } from '../../../shared/errors.ts';

/** @throws UsageError for a name that promises something else: `apply` would believe it */
export function requireCsvName(file: string, what: string): void {
  const [extension] = /\.(json|ndjson|jsonl|xlsx?|ods)$/i.exec(file) ?? [];
  if (extension === undefined) return;
  throw new UsageError(`${what} writes CSV, and ${file} would be taken for something else: name it .csv`);
}
