import { describe, expect, it } from '@jest/globals'
import { createPartitionLine, type PartitionLine } from '../src/partition-line.ts'

interface Placed {
  readonly offset: bigint
}

function lineOf(...offsets: readonly number[]): PartitionLine<Placed> {
  const line = createPartitionLine<Placed>()
  line.add(offsets.map((offset) => ({ offset: BigInt(offset) })))
  return line
}

function takeAll(line: PartitionLine<Placed>, nowMs: number): readonly string[] {
  const taken: string[] = []
  for (let next = line.take(nowMs); next !== undefined; next = line.take(nowMs))
    taken.push(String(next.record.offset))
  return taken
}

describe('the line of a partition', () => {
  it('hands out in the order of the log', () => {
    expect(takeAll(lineOf(1, 2, 5), 0)).toEqual(['1', '2', '5'])
  })

  it('puts a record back before those behind it, and says that it was handed out before', () => {
    const line = lineOf(1, 2)
    line.take(0)
    line.putBack(1n, 0)
    expect(line.take(0)).toMatchObject({ record: { offset: 1n }, handedOut: 2 })
    expect(takeAll(line, 0)).toEqual(['2'])
  })

  it('holds everything behind a record until its time has come', () => {
    const line = lineOf(1, 2)
    line.take(0)
    line.putBack(1n, 500)
    expect(line.take(499)).toBeUndefined()
    expect(line.waitMs(100)).toBe(400)
    expect(takeAll(line, 500)).toEqual(['1', '2'])
  })

  it('hands out nothing after a return until what is in flight has ended, in the order of the log again', () => {
    const line = lineOf(1, 2, 3, 4)
    for (let taken = 0; taken < 3; taken += 1) line.take(0)
    line.putBack(1n, 0)
    expect([line.take(0), line.waitMs(0)]).toEqual([undefined, undefined])
    line.finish(2n)
    expect(line.take(0)).toBeUndefined()
    line.putBack(3n, 0)
    expect(takeAll(line, 0)).toEqual(['1', '3', '4'])
  })

  it('puts everything in flight back when the connection is lost', () => {
    const line = lineOf(1, 2, 3)
    line.take(0)
    line.take(0)
    line.putBack(2n, 1000)
    line.rewind()
    expect(line.inFlight).toBe(0)
    expect(takeAll(line, 0)).toEqual(['1'])
    expect(takeAll(line, 1000)).toEqual(['2', '3'])
  })

  it('ignores what is no longer in flight', () => {
    const line = lineOf(1)
    line.putBack(1n, 0)
    line.finish(9n)
    expect([line.waiting, line.inFlight]).toEqual([1, 0])
  })
})
