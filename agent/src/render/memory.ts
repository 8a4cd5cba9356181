/**
 * nginx empties a dictionary whose size changes with a reload, and nobody is told: records and certificates would be gone, and the cursor
 * that says they are there would stand. So one that runs keeps the sizes it was started with until its next start.
 */

const dictionaries = /(lua_shared_dict (\w+)) (\w+);/g;

/** @param running the configuration that nginx runs with. @returns the rendered one, with the dictionaries of the other as large as there */
export function withMemoryOf(running: string, rendered: string): string {
  const sizes = new Map([...running.matchAll(dictionaries)].map(([, , name, size]) => [name, size]));
  return rendered.replace(dictionaries, (line, head: string, name: string) => {
    const size = sizes.get(name);
    return size === undefined ? line : `${head} ${size};`;
  });
}
