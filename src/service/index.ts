export { FaultSpecError } from './faults.ts';
export { type InventoryItem, petStatuses, type Stock } from './item.ts';
export { generateKey } from './key.ts';
export { openApiDocument } from './openapi.ts';
export { seededStock } from './seed.ts';
export { isLoopback, type RunningService, type ServiceOptions, startService } from './service.ts';
export { openStockFile, type StockFile } from './stock-file.ts';
