import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually, startTcpProxy, type TcpProxy } from '../services/index.ts'

describe('the TCP proxy', () => {
  let echo: Server
  let proxy: TcpProxy
  beforeEach(async () => {
    echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket))
    echo.listen(0, '127.0.0.1')
    await once(echo, 'listening')
    proxy = await startTcpProxy({ port: (echo.address() as AddressInfo).port })
  })
  afterEach(async () => {
    await proxy[Symbol.asyncDispose]()
    echo.close()
  })

  /* Not by `once`, which rejects at a reset. */
  function closed(socket: Socket): Promise<void> {
    return new Promise((resolve) => {
      socket.once('close', () => {
        resolve()
      })
    })
  }

  async function open(): Promise<Socket> {
    const socket = connect(proxy.port, '127.0.0.1').on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }

  async function roundTrip(socket: Socket, text: string): Promise<string> {
    socket.write(text)
    const [bytes] = (await once(socket, 'data')) as [Buffer]
    return bytes.toString()
  }

  test('forwards bytes in both directions', async () => {
    const socket = await open()
    expect(await roundTrip(socket, 'çay')).toBe('çay')
    socket.end()
    await closed(socket)
  })

  test('cuts every open connection and still takes new ones', async () => {
    const [first, second] = [await open(), await open()]
    await Promise.all([roundTrip(first, 'a'), roundTrip(second, 'b')])
    const bothClosed = Promise.all([closed(first), closed(second)])
    proxy.cut()
    await bothClosed
    await eventually(
      () => {
        expect(proxy.connections).toBe(0)
      },
      { expectation: 'no connection to be left' },
    )
    const third = await open()
    expect(await roundTrip(third, 'c')).toBe('c')
    third.destroy()
  })

  test('drops answers on demand while requests arrive, and only on the connections of that moment', async () => {
    const deaf = await open()
    await roundTrip(deaf, 'a')
    let answered = 0
    deaf.on('data', (bytes) => (answered += bytes.length))
    proxy.loseAnswers()
    const echoed = new Promise<void>((resolve) => {
      echo.getConnections(() => {
        resolve()
      })
    })
    deaf.write('lost')
    const later = await open()
    expect(await roundTrip(later, 'heard')).toBe('heard')
    await echoed
    expect(answered).toBe(0)
    const end = closed(deaf)
    proxy.cut()
    await end
    later.destroy()
  })

  test('holds bytes while it is stalled, for old and new connections, and delivers them after', async () => {
    const old = await open()
    await roundTrip(old, 'a')
    proxy.stall()
    const late = await open()
    let received = ''
    for (const socket of [old, late]) socket.on('data', (bytes) => (received += bytes.toString()))
    await new Promise((written) => old.write('b', written))
    await new Promise((written) => late.write('c', written))
    /* Round trips on another way through the same loopback show that time enough has passed for bytes to arrive. */
    const direct = connect((echo.address() as AddressInfo).port, '127.0.0.1')
    for (let trip = 0; trip < 20; trip += 1) await roundTrip(direct, 'x')
    expect(received).toBe('')
    proxy.resume()
    await eventually(
      () => {
        expect(Array.from(received).sort()).toEqual(['b', 'c'])
      },
      { expectation: 'both held bytes' },
    )
    for (const socket of [old, late, direct]) socket.destroy()
  })

  test('refuses new connections until it accepts again, and keeps the open ones', async () => {
    const kept = await open()
    await roundTrip(kept, 'a')
    proxy.refuse()
    const refused = connect(proxy.port, '127.0.0.1').on('error', () => undefined)
    await closed(refused)
    expect(await roundTrip(kept, 'b')).toBe('b')
    proxy.accept()
    const accepted = await open()
    expect(await roundTrip(accepted, 'c')).toBe('c')
    kept.destroy()
    accepted.destroy()
  })

  test('puts itself in the place of the target in an address', () => {
    expect(proxy.through('amqp://guest:guest@broker:5672/a%2Fb')).toBe(
      `amqp://guest:guest@127.0.0.1:${String(proxy.port)}/a%2Fb`,
    )
  })
})
