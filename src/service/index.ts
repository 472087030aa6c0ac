export { FaultSpecError } from './faults/part.ts';
export type { JournalEntry } from './journal.ts';
export { generateKey } from './keys/key.ts';
export type { RunningService, ServiceOptions } from './options.ts';
export { startService } from './start.ts';
export { inspectDatabase } from './store/inspect.ts';
export { StorageError } from './store/store.ts';
