import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { createExampleProject, type ExampleProject } from '../readmes/example-project.ts'
import { readExamples } from '../readmes/read-examples.ts'
import { describeWithServices } from '../services/describe-with-services.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readmes = readdirSync(join(root, 'packages'))
  .map((name) => ({ name, file: join(root, 'packages', name, 'README.md') }))
  .filter(({ file }) => existsSync(file))
const packageExamples = (await Promise.all(readmes.map(({ name, file }) => readExamples(file, name)))).flat()
const rootExamples = await readExamples(join(root, 'README.md'), 'readme')
const onServices = rootExamples.filter(({ runnable }) => runnable)

let project: ExampleProject

beforeAll(async () => {
  project = await createExampleProject()
  await Promise.all([...packageExamples, ...rootExamples].map((example) => project.add(example)))
})

afterAll(async () => {
  await project[Symbol.asyncDispose]()
})

test('every block of TypeScript in a README has strict types', async () => {
  expect(packageExamples.length).toBeGreaterThanOrEqual(7)
  await expect(project.check()).resolves.toBeUndefined()
}, 150_000)

describe('each runnable block does what its README says', () => {
  const runnable = packageExamples.filter((example) => example.runnable)
  test.each(runnable.map((example) => [example.name, example] as const))('%s', async (name, { output }) => {
    const printed = await project.run(name)
    expect(printed).toBe(output ?? printed)
  })
})

describe('every README of a package', () => {
  test.each(readmes.map(({ name, file }) => [name, file] as const))(
    '%s says what it is, how to install it, and shows it at work',
    async (name, file) => {
      const text = await readFile(file, 'utf8')
      expect(text.startsWith(`# @litebus/${name}\n`)).toBe(true)
      expect(text).toMatch(/^npm install /m)
      expect(packageExamples.some((example) => example.name.replace(/-\d+$/, '') === name)).toBe(true)
    },
  )

  // The kit for tests of adapters has suites in the place of options and errors.
  test.each(
    readmes.filter(({ name }) => name !== 'conformance').map(({ name, file }) => [name, file] as const),
  )('%s names options, guarantees and errors', async (_name, file) => {
    const headings = [...(await readFile(file, 'utf8')).matchAll(/^#+ (.*)$/gm)].map(([, text]) => text)
    const wanted = ['Quick start', 'Options', 'Guarantees', 'Errors']
    expect(wanted.filter((heading) => !headings.some((text) => text?.startsWith(heading)))).toEqual([])
  })
})

await describeWithServices('the quick start of the repository', ['postgres', 'rabbitmq'], (services) => {
  test('carries an order through PostgreSQL and RabbitMQ to one invoice', async () => {
    await using database = await services.postgres.createDatabase()
    await using vhost = await services.rabbitmq.createVhost()
    const pool = new pg.Pool({ connectionString: database.url })
    await pool.query('create table orders (order_id text); create table invoices (order_id text)')
    const names = onServices.map(({ name }) => name)
    for (const name of names) {
      await project.add({
        name: `run-${name}`,
        code: `
          import pg from 'pg'
          import { ingress, placeOrder, relay, worker } from './${name}.ts'
          const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
          const client = await pool.connect()
          await client.query('begin')
          await placeOrder(client, '7')
          await client.query('commit')
          client.release()
          while ((await pool.query('select from invoices')).rowCount === 0)
            await new Promise((resolve) => setTimeout(resolve, 50))
          await Promise.all([relay.stop(), ingress.stop(), worker.stop()])
          process.exit()`,
      })
      await project.run(`run-${name}`, { DATABASE_URL: database.url, AMQP_URL: vhost.url })
    }
    const { rows } = await pool.query<{ order_id: string }>('select order_id from invoices')
    await pool.end()
    expect(rows).toEqual(names.map(() => ({ order_id: '7' })))
  }, 60_000)
})
