/** URL of the broker that these tests run on; a virtual host of their own is best. */
export function brokerUrl(): URL {
  const url = process.env['AMQP_URL']
  if (url === undefined || url === '')
    throw new Error(
      'expected AMQP_URL to be the URL of a RabbitMQ for tests, for example amqp://guest:guest@127.0.0.1:5672/tests; found nothing',
    )
  return new URL(url)
}
