/** An array of numbers or ids as PostgreSQL reads it: they need no quotes. */
export function plainArray(values: readonly (string | number)[]): string {
  return `{${values.join(',')}}`
}

/**
 * An array of texts as PostgreSQL reads it. Written here because it is much of what a batch costs: the driver looks
 * through each text twice.
 */
export function textArray(values: readonly (string | null)[]): string {
  let literal = ''
  for (const value of values)
    literal += `${literal === '' ? '{' : ','}${value === null ? 'NULL' : quoted(value)}`
  return literal === '' ? '{}' : `${literal}}`
}

/**
 * Where neither control characters nor lone surrogates, which no store takes, are in the way, JSON escapes the same two
 * characters, several times faster.
 */
function quoted(text: string): string {
  if (!special.test(text)) return `"${text}"`
  return control.test(text) ? `"${text.replaceAll(allSpecial, '\\$&')}"` : JSON.stringify(text)
}

const special = /["\\]/
const allSpecial = /["\\]/g
const control = /[^\u0020-\uffff]/
