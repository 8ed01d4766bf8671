export {
  type ConfluentAdmin,
  type ConfluentConsumer,
  type ConfluentKafka,
  type ConfluentProducer,
  type ConfluentTopicPartition,
} from './confluent/client-shape.ts'
export { confluentClient, type ConfluentClient } from './confluent/confluent-client.ts'
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
