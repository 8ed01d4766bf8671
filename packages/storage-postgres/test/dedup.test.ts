import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { postgresStorage } from '../src/index.ts'
import { databaseUrl, dropSchema, freshSchema } from './postgres-fixture.ts'

const schema = freshSchema()
const storage = postgresStorage({ connection: databaseUrl(), schema, listen: false })

beforeAll(async () => {
  await storage.schema.migrate()
})

afterAll(async () => {
  await storage.close()
  await dropSchema(schema)
})

describe('a key whose work ends its transaction itself', () => {
  it.each([
    ['commits it', 'commit'],
    ['rolls it back', 'rollback'],
    ['commits it and begins another', 'commit; begin'],
  ])('and %s is not completed, and the work is refused', async (key, text) => {
    const { generation } = await storage.dedup.claim(key, 60_000)
    const ending = storage.dedup.completeInTransaction({ key, generation }, async (transaction) => {
      await transaction.query(text)
    })
    await expect(ending).rejects.toMatchObject({ code: 'INVALID_OPERATION' })
    expect((await storage.dedup.claim(key, 60_000)).state).toBe('inProgress')
  })
})
