import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder } from '../cache-folder.ts'
import { findProgram } from '../find-program.ts'
import { runCommand } from '../run-command.ts'

/** A Kafka that can be started: a Java program and the class path of broker and tools. */
export interface KafkaDistribution {
  readonly java: string
  readonly classPath: string
}

const version = '4.1.1'

/** Everything else comes with these: the broker, its command line tools, and a logger for what goes wrong. */
const artifacts = [
  ['org.apache.kafka', 'kafka_2.13', version],
  ['org.apache.kafka', 'kafka-tools', version],
  ['org.slf4j', 'slf4j-simple', '1.7.36'],
] as const

/** The programs that are needed; `undefined` where one of them is missing. */
export function findKafkaPrograms(): { readonly java: string; readonly maven: string } | undefined {
  const java = findProgram('java')
  const maven = findProgram('mvn')
  return java === undefined || maven === undefined ? undefined : { java, maven }
}

/** Fetches the jars once from where Maven is set up to fetch; later runs find them in the cache folder of the user. */
export async function kafkaDistribution(): Promise<KafkaDistribution> {
  const programs = findKafkaPrograms()
  if (programs === undefined)
    throw new Error('expected java and mvn in PATH, found not both: install Java 17 and Maven')
  const cache = cacheFolder()
  const jars = join(cache, `kafka-${version}`)
  if (!existsSync(jars)) await fetchJars(programs.maven, cache, jars)
  return { java: programs.java, classPath: join(jars, '*') }
}

/* Under a name of its own first: two runs may fetch at once, and one that dies must not leave half of them. */
async function fetchJars(maven: string, cache: string, target: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'fetching-'))
  try {
    await writeFile(join(folder, 'pom.xml'), projectFile())
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:copy-dependencies'
    const output = `-DoutputDirectory=${join(folder, 'jars')}`
    await runCommand(
      maven,
      ['-B', '-q', '-f', join(folder, 'pom.xml'), goal, output, '-DincludeScope=runtime'],
      {
        cwd: folder,
        timeoutMs: 300_000,
      },
    )
    if (!existsSync(target)) await rename(join(folder, 'jars'), target)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function projectFile(): string {
  const dependencies = artifacts.map(
    ([group, artifact, of]) =>
      `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${of}</version></dependency>`,
  )
  return (
    '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>' +
    '<groupId>litebus</groupId><artifactId>tests</artifactId><version>1</version>' +
    `<dependencies>${dependencies.join('')}</dependencies></project>`
  )
}
