export { FaultSpecError } from './faults/grammar.ts';
export { type InventoryItem, petStatuses, type Stock } from './item.ts';
export { generateKey } from './key.ts';
export { openApiDocument } from './openapi.ts';
export { isLoopback, type ServiceOptions } from './options.ts';
export { seededStock } from './seed.ts';
export { type RunningService, startService } from './service.ts';
export { openStore, type Store } from './store.ts';
