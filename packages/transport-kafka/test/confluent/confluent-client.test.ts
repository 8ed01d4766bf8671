import { describe, expect, it } from '@jest/globals'
import { confluentClient, kafkaTransport } from '@litebus/transport-kafka'
import { fakeConfluent } from '../support/fake-confluent.ts'

describe("Confluent's client", () => {
  it('is refused when it is something else, such as the package', () => {
    for (const other of [{}, { KafkaJS: {} }, { producer: () => undefined }])
      expect(() => confluentClient(other as never)).toThrow(/expected a client, as new KafkaJS.Kafka/)
  })

  it('is told what keeps commits and order in the hands of the transport, whatever it is given', async () => {
    const { kafka, made } = fakeConfluent()
    await using transport = kafkaTransport({
      client: confluentClient(kafka),
      groupId: 'own',
      producerOptions: {
        acks: 1,
        'enable.idempotence': false,
        'enable.gapless.guarantee': false,
        'linger.ms': 1,
      },
      consumerOptions: {
        'enable.auto.commit': true,
        'group.instance.id': 'one',
        kafkaJS: { groupId: 'other', autoCommit: true },
      },
    })
    const [outcome] = await transport.publisher.publish([
      { destination: 't', messageId: 'm', body: new Uint8Array(), headers: { empty: '', nul: 'a\0b' } },
    ])
    expect(outcome).toEqual({ status: 'confirmed' })
    expect(made.producer).toMatchObject({
      acks: -1,
      'enable.idempotence': true,
      'enable.gapless.guarantee': true,
      'linger.ms': 1,
    })
    // This client cuts text off at a NUL, and makes nothing of bytes of which there are none.
    expect(made.sent).toMatchObject([{ headers: { empty: '', nul: Buffer.from('a\0b') } }])
    const subscription = await transport.consumer.subscribe({ source: 't', maxInFlight: 1 }, () => undefined)
    expect(made.consumer).toMatchObject({
      'enable.auto.commit': false,
      'group.instance.id': 'one',
      kafkaJS: { groupId: 'own', autoCommit: false, sessionTimeout: 30_000 },
    })
    await subscription.stop({ budgetMs: 0 })
  })

  it('leaves the times of a member to the broker in the newer protocol of groups', async () => {
    const { kafka, made } = fakeConfluent()
    await using transport = kafkaTransport({
      client: confluentClient(kafka),
      groupId: 'own',
      consumerOptions: { 'group.protocol': 'consumer' },
    })
    const subscription = await transport.consumer.subscribe({ source: 't', maxInFlight: 1 }, () => undefined)
    expect(made.consumer).not.toHaveProperty(['kafkaJS', 'sessionTimeout'])
    expect(made.consumer).not.toHaveProperty(['kafkaJS', 'heartbeatInterval'])
    await subscription.stop({ budgetMs: 0 })
  })
})
