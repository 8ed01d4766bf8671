export { eventually, type EventuallyOptions } from './eventually.ts'
export {
  startKafkaCluster,
  startKafkaNode,
  type KafkaCluster,
  type KafkaNodeOptions,
} from './kafka/start-kafka-cluster.ts'
export { brokersOf, createKafkaTopic, kafkaClient, probeKafka, withKafkaAdmin } from './kafka/kafka-client.ts'
export { groupMembership, type GroupMember } from './kafka/group-membership.ts'
export { errorCodeOf } from './kafka/raw-request.ts'
export { committedOffsets, groupLag } from './kafka/group-offsets.ts'
export { startPostgresNode, type PostgresNodeOptions } from './postgres/start-postgres-node.ts'
export { startRabbitNode, type RabbitNodeOptions } from './rabbitmq/start-rabbit-node.ts'
export type { ServiceNode } from './service-node.ts'
export {
  kafka,
  postgres,
  rabbitmq,
  ServiceMissing,
  type KafkaService,
  type PostgresService,
  type RabbitmqService,
  type TestDatabase,
  type TestTopics,
  type TestVhost,
} from './services.ts'
export { startKeeper } from './start-keeper.ts'
export { startTcpProxy, type TcpProxy, type TcpProxyTarget } from './tcp-proxy.ts'
export { startTlsProxy, type TlsProxy } from './tls-proxy.ts'
