import { findKafkaPrograms, kafkaDistribution } from '../services/kafka/kafka-distribution.ts'
import { run, runs } from './run-program.ts'

/** Where a producer of another language writes to. */
interface ProducerTarget {
  /** Addresses with commas between them. */
  readonly brokers: string
  readonly topic: string
}

/** Producers of other languages; what they are given on their command lines and standard input is theirs. */
export interface KafkaProducers {
  /** librdkafka's kcat. */
  readonly kcat: (
    target: ProducerTarget,
    args: readonly string[],
    input: string | Uint8Array,
  ) => Promise<void>
  /** The console producer of the Java client. */
  readonly java: (target: ProducerTarget, args: readonly string[], input: string) => Promise<void>
}

/** What is missing for them on this machine; `undefined` when nothing is. */
export async function missingKafkaProducers(): Promise<string | undefined> {
  if (!(await runs('kcat', ['-V']))) return 'install kcat (Debian)'
  return findKafkaPrograms() === undefined ? 'install Java 17 and Maven' : undefined
}

export const kafkaProducers: KafkaProducers = {
  kcat: ({ brokers, topic }, args, input) =>
    run('kcat', ['-P', '-b', brokers, '-t', topic, '-p', '0', ...args], { input }),
  async java({ brokers, topic }, args, input) {
    const { java, classPath } = await kafkaDistribution()
    const tool = 'org.apache.kafka.tools.ConsoleProducer'
    const common = ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-cp', classPath, tool]
    await run(java, [...common, '--bootstrap-server', brokers, '--topic', topic, ...args], { input })
  },
}
