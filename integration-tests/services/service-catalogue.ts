import { kafkaDefinition } from './kafka/kafka-definition.ts'
import { postgresDefinition } from './postgres/postgres-definition.ts'
import { rabbitmqDefinition } from './rabbitmq/rabbitmq-definition.ts'
import type { ServiceDefinition } from './service-definition.ts'

/** Every service that tests may ask for. A new broker joins by one entry here and its method in `services.ts`. */
export const serviceCatalogue: readonly ServiceDefinition[] = [
  postgresDefinition,
  rabbitmqDefinition,
  kafkaDefinition,
]
