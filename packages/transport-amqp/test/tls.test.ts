import { expect, it } from '@jest/globals'
import { amqpTransport, type AmqpTransportOptions } from '@litebus/transport-amqp'
import { describeWithServices } from '../../../integration-tests/services/describe-with-services.ts'
import { eventually, startTlsProxy } from '../../../integration-tests/services/index.ts'

const message = { messageId: '1', body: Buffer.from('{}'), headers: {} }

await describeWithServices('the AMQP transport over TLS', ['rabbitmq'], ({ rabbitmq }) => {
  const portOf = (url: string): number => Number(new URL(url).port || 5672)

  it('trusts the certificates that its socket options name, and publishes and consumes', async () => {
    await using vhost = await rabbitmq.createVhost()
    await using proxy = await startTlsProxy({ port: portOf(vhost.url) })
    const queue = `${vhost.prefix}tls`
    await using transport = amqpTransport({
      url: proxy.through(vhost.url),
      socketOptions: { ca: [proxy.certificate] },
      topology: { queues: [{ name: queue, kind: 'classic' }] },
    })
    expect(await transport.publisher.publish([{ ...message, destination: queue }])).toEqual([
      { status: 'confirmed' },
    ])
    const seen: string[] = []
    await transport.consumer.subscribe({ source: queue, maxInFlight: 1 }, (delivery) => {
      seen.push(delivery.message.messageId ?? '')
      void delivery.accept()
    })
    await eventually(
      () => {
        expect(seen).toEqual(['1'])
      },
      { expectation: 'the message to arrive' },
    )
    expect(proxy.handshakes).toBe(2)
  })

  it('presents a client certificate to a broker that asks for one, given with the connection options', async () => {
    await using vhost = await rabbitmq.createVhost()
    await using proxy = await startTlsProxy({ port: portOf(vhost.url) }, { requireClient: true })
    const through = new URL(proxy.through(vhost.url))
    const options = (socketOptions: object): AmqpTransportOptions => ({
      connection: {
        protocol: 'amqps',
        hostname: through.hostname,
        port: Number(through.port),
        username: decodeURIComponent(through.username),
        password: decodeURIComponent(through.password),
        vhost: decodeURIComponent(through.pathname.slice(1)) || '/',
      },
      socketOptions: { ca: [proxy.certificate], ...socketOptions },
    })
    await using transport = amqpTransport(options(proxy.client))
    await transport.probe()
    expect(proxy.handshakes).toBe(1)
    await using stranger = amqpTransport(options({}))
    await expect(stranger.probe()).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' })
    expect(proxy.handshakes).toBe(1)
  })

  it('refuses a broker whose certificate it has no reason to trust, and says so', async () => {
    await using vhost = await rabbitmq.createVhost()
    await using proxy = await startTlsProxy({ port: portOf(vhost.url) })
    await using transport = amqpTransport({ url: proxy.through(vhost.url) })
    expect(await transport.publisher.publish([{ ...message, destination: 'any' }])).toMatchObject([
      { status: 'unavailable', failure: { code: 'CONNECTION_LOST' } },
    ])
    await expect(transport.probe()).rejects.toMatchObject({
      code: 'TRANSPORT_UNAVAILABLE',
      message: expect.stringMatching(/self-signed certificate/u) as unknown,
    })
  })
})
