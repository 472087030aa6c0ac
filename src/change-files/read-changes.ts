import { ChangeCollector, type ChangeFile } from './collector.ts';
import { type ReadOptions, readRows } from './read-rows.ts';

export type { ChangeFile } from './collector.ts';
export type { FileFault, PlaceUnit, Remedy } from './fault.ts';
export { type ChangeFormat, changeFormats } from './format.ts';

/**
 * Reads a file of changes, all of it, and finds every fault that it has. What is kept of it is the changes alone, so the
 * size of the file doesn't matter.
 * @throws what `source` throws: it is the caller who knows what it reads from
 */
export async function readChanges(source: AsyncIterable<Uint8Array>, options: ReadOptions): Promise<ChangeFile> {
  const collector = new ChangeCollector();
  await readRows(source, options, collector);
  return collector.finish();
}
