export { memoryStorage, type MemoryStorage } from './memory-storage.ts'
export { type MemoryStorageOptions } from './options.ts'
export { type MemoryTransaction } from './transaction.ts'
