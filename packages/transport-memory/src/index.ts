export {
  memoryBroker,
  type MemoryBroker,
  type MemoryBrokerInternals,
  type MemoryBrokerOptions,
} from './broker/memory-broker.ts'
export { type MemoryFaults, type PublishFault, type SettlementFault } from './broker/faults.ts'
export { type MemoryQueue, type QueueReader } from './broker/memory-queue.ts'
export { type SignalBoard } from './broker/signal-board.ts'
export { type StoredMessage } from './broker/stored-message.ts'
export {
  type MemoryExchangeOptions,
  type MemoryQueueCount,
  type MemoryQueueOptions,
} from './broker/topology.ts'
export { memoryTransportDefaults, type MemoryTransportOptions } from './options.ts'
export { memoryTransport } from './transport.ts'
