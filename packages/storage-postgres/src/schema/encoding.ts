/** Reads the encoding in which the database keeps text. */
export const readEncoding = `current_setting('server_encoding')`

/** Why an encoding will not do: in any other than UTF-8 the database would refuse some messages, or not know them again. */
export function encodingFault(encoding: string | null | undefined): string | undefined {
  return encoding === 'UTF8'
    ? undefined
    : `expected a database in encoding UTF8, found ${encoding ?? 'none'}: create one with encoding 'UTF8' template template0`
}
