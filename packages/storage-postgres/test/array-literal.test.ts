import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import pg from 'pg'
import { plainArray, textArray } from '../src/database/array-literal.ts'
import { databaseUrl } from './postgres-fixture.ts'

describe('array literals', () => {
  const client = new pg.Client({ connectionString: databaseUrl() })
  beforeAll(() => client.connect())
  afterAll(() => client.end())

  const read = async (literal: string, type: string): Promise<unknown> => {
    const { rows } = await client.query<{ readonly a: unknown }>(`select $1::${type}[] as a`, [literal])
    return rows[0]?.a
  }

  it.each([
    { texts: [] },
    { texts: [''] },
    { texts: ['null', 'NULL', null] },
    { texts: ['{a,b}', '"', '\\', '\\"', 'a\nb', ' a ', 'žluť 🐎', '$&', '{"sourceId":"a\\b"}'] },
  ])('of texts come back as they were: $texts', async ({ texts }) => {
    expect(await read(textArray(texts), 'text')).toEqual(texts)
  })

  it('of any texts come back as they were', async () => {
    const text = fc
      .string({ unit: 'binary' })
      .filter((value) => !value.includes('\0') && value.isWellFormed())
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text)), async (texts) => {
        expect(await read(textArray(texts), 'text')).toEqual(texts)
      }),
      { numRuns: 200 },
    )
  })

  it('of numbers come back as they were', async () => {
    expect(await read(plainArray([]), 'int4')).toEqual([])
    expect(await read(plainArray([1, -2, 0]), 'int4')).toEqual([1, -2, 0])
  })
})
