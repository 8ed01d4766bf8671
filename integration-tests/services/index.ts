export { eventually, type EventuallyOptions } from './eventually.ts'
export { startPostgresNode, type PostgresNodeOptions } from './postgres/start-postgres-node.ts'
export { startRabbitNode, type RabbitNodeOptions } from './rabbitmq/start-rabbit-node.ts'
export type { ServiceNode } from './service-node.ts'
export {
  postgres,
  rabbitmq,
  ServiceMissing,
  type PostgresService,
  type RabbitmqService,
  type TestDatabase,
  type TestVhost,
} from './services.ts'
export { startKeeper } from './start-keeper.ts'
export { startTcpProxy, type TcpProxy, type TcpProxyTarget } from './tcp-proxy.ts'
export { startTlsProxy, type TlsProxy } from './tls-proxy.ts'
