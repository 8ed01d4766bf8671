import { describe, expect, it } from '@jest/globals'
import { SafeMark, ScanPositions } from '../src/lease/positions.ts'

describe('the positions of a scan', () => {
  it('start where an earlier scan came to, after a scan that began when all writers of that time had ended', () => {
    const positions = new ScanPositions()
    positions.end(positions.begin(), { value: 100, leased: 100, xid: 10, xmin: 10 })
    expect(positions.start).toBe(0)
    // The next scan has transaction 12: whoever could write below 100 has a smaller id.
    positions.end(positions.begin(), { value: 200, leased: 100, xid: 12, xmin: 12 })
    expect(positions.start).toBe(0)
    positions.end(positions.begin(), { value: 300, leased: 100, xid: 14, xmin: 14 })
    expect(positions.start).toBe(100)
  })

  it('stay below what a running transaction may still write, and look once more when it has ended', () => {
    const positions = new ScanPositions()
    for (let scan = 1; scan <= 10; scan += 1) {
      positions.end(positions.begin(), { value: scan * 100, leased: 100, xid: 10 + scan, xmin: 5 })
    }
    expect(positions.start).toBe(0)
    positions.end(positions.begin(), { value: 1100, leased: 100, xid: 30, xmin: 30 })
    expect(positions.start).toBe(900)
  })

  it('walk a bounded number of rows while one transaction stays open, and everything once when it has ended', () => {
    const positions = new ScanPositions()
    for (let scan = 1; scan <= 600; scan += 1) {
      positions.end(positions.begin(), { value: scan * 100, leased: 100, xid: 10 + scan, xmin: 5 })
    }
    expect(positions.start).toBeGreaterThan(35_000)
    expect(positions.start).toBeLessThan(45_000)
    positions.end(positions.begin(), { value: 60_100, leased: 100, xid: 700, xmin: 700 })
    expect(positions.start).toBe(0)
    positions.end(positions.begin(), { value: 60_200, leased: 100, xid: 701, xmin: 701 })
    expect(positions.start).toBeGreaterThan(59_000)
  })

  it('are not taken over from a scan that began before another one came so far', () => {
    const positions = new ScanPositions()
    const slow = positions.begin()
    positions.end(positions.begin(), { value: 500, leased: 500, xid: 20, xmin: 20 })
    positions.end(slow, { value: 10, leased: 0, xid: 15, xmin: 15 })
    positions.end(positions.begin(), { value: 500, leased: 0, xid: undefined, xmin: 19 })
    expect(positions.start).toBe(0)
    expect(positions.reached).toBe(500)
  })
})

describe('a mark of what may live lowest', () => {
  it('takes the lower of two looks, the second of which saw what late commits left', () => {
    const mark = new SafeMark(0)
    mark.advance({ value: 100, xid: 10 }, 5)
    expect(mark.value).toBe(0)
    mark.advance({ value: 200, xid: 12 }, 9)
    expect(mark.value).toBe(0)
    mark.advance({ value: 40, xid: 14 }, 12)
    expect(mark.value).toBe(40)
  })
})
