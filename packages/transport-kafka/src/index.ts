export { tombstoneHeader } from './headers.ts'
export {
  type KafkaJsAdmin,
  type KafkaJsBatch,
  type KafkaJsBatchPayload,
  type KafkaJsClient,
  type KafkaJsConsumer,
  type KafkaJsFetchedMessage,
  type KafkaJsHeader,
  type KafkaJsMessage,
  type KafkaJsOffsets,
  type KafkaJsProducer,
} from './kafkajs/client-shape.ts'
export { kafkaTransportDefaults, type KafkaTransportOptions } from './options.ts'
export { kafkaTransport } from './transport.ts'
