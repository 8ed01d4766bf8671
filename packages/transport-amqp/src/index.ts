export {
  type AmqpDriverChannel,
  type AmqpDriverConfirmChannel,
  type AmqpDriverConnection,
  type AmqpDriverEmitter,
  type AmqpDriverMessage,
  type AmqpDriverProperties,
} from './driver.ts'
export {
  amqpTransportDefaults,
  type AmqpConnectionRole,
  type AmqpPublishProperties,
  type AmqpTransportOptions,
} from './options.ts'
export {
  type AmqpBinding,
  type AmqpDeadLetter,
  type AmqpExchange,
  type AmqpQueue,
  type AmqpTopology,
} from './topology/topology.ts'
export { amqpTransport } from './transport.ts'
