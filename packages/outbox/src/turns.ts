/** Runs work of one name one after another, and of different names side by side. */
export type Turns = <T>(name: string, work: () => Promise<T>) => Promise<T>

/** Starts with nobody waiting. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>()
  return (name, work) => {
    const before = last.get(name) ?? Promise.resolve()
    const turn = before.then(work, work)
    last.set(name, turn)
    const leave = (): void => {
      if (last.get(name) === turn) last.delete(name)
    }
    turn.then(leave, leave)
    return turn
  }
}
