/**
 * nginx empties a dictionary whose size changes with a reload, and nobody is told: records and certificates would be gone, and the cursor
 * that says they are there would stand. So one that runs keeps the sizes it was started with until its next start.
 */

const dictionaries = /(lua_shared_dict (\w+)) (\w+);/g;
/** The index of what is cached, for which the same holds: nginx would read the whole folder anew. */
const index = /(keys_zone=edge:)(\w+)/;

/** @param running the configuration that nginx runs with. @returns the rendered one, with its dictionaries and the index of the cache as large as there */
export function withMemoryOf(running: string, rendered: string): string {
  const sizes = new Map([...running.matchAll(dictionaries)].map(([, , name, size]) => [name, size]));
  const keys = index.exec(running)?.[2];
  const kept = keys === undefined ? rendered : rendered.replace(index, (_, head: string) => head + keys);
  return kept.replace(dictionaries, (line, head: string, name: string) => {
    const size = sizes.get(name);
    return size === undefined ? line : `${head} ${size};`;
  });
}
