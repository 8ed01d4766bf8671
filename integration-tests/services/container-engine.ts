import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers'

export interface ContainerRequest {
  readonly image: string
  /** A port of the server; with `host`, that port of this machine leads to it, else any. */
  readonly port: number | { readonly container: number; readonly host: number }
  readonly environment: Readonly<Record<string, string>>
  /** Printed once the server is ready. */
  readonly readyLog: RegExp
  /** How often that line is printed before it means it. */
  readonly readyTimes: number
}

/** A `docker` program proves nothing; the client rejects within milliseconds where no engine runs. */
export async function hasContainerEngine(): Promise<boolean> {
  try {
    await getContainerRuntimeClient()
    return true
  } catch {
    return false
  }
}

export function startContainer({
  image,
  port,
  environment,
  readyLog,
  readyTimes,
}: ContainerRequest): Promise<StartedTestContainer> {
  return new GenericContainer(image)
    .withEnvironment({ ...environment })
    .withExposedPorts(port)
    .withWaitStrategy(Wait.forLogMessage(readyLog, readyTimes))
    .start()
}
