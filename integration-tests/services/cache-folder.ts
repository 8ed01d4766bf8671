import { homedir } from 'node:os'
import { join } from 'node:path'

/** Folder of the user in which what was fetched or built for tests is kept between runs. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'litebus-tests')
}
