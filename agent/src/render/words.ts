/** What goes into nginx's configuration, in its words. Each throws a RangeError where something cannot stand there. */

/** The template puts paths in double quotes, in nginx's language and in Lua's; `;` and `?` divide a Lua search path. */
export function path(text: string): string {
  if (!/^\/[^"'\\$;?{}*\p{Cc}]*$/u.test(text)) throw new RangeError(`nginx cannot take this path: ${JSON.stringify(text)}`);
  return text;
}

export function whole(number: number): string {
  if (!Number.isSafeInteger(number) || number < 0) throw new RangeError(`not a whole number: ${number}`);
  return String(number);
}

/** CPUs by their numbers: the first is the last digit. */
export function cpuMask(cpus: readonly number[]): string {
  if (!cpus.length || cpus.some(one => !Number.isSafeInteger(one) || one < 0 || one > 1023))
    throw new RangeError(`not a list of CPUs: ${cpus.join()}`);
  return Array.from({ length: Math.max(...cpus) + 1 }, (_, i) => (cpus.includes(i) ? '1' : '0'))
    .reverse()
    .join('');
}
