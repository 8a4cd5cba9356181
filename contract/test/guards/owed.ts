/** What the specification asks for, against what is built and what stands on the list of the not yet built. */

export type Owed = { asked: readonly string[]; built: Iterable<string>; notYet: readonly string[] };

/**
 * Everything asked for is built or on the list, never both; the list holds nothing that nobody asked for, nothing twice.
 * `what` names the things in the sentences.
 */
export function owedProblems(what: string, { asked, built, notYet }: Owed): string[] {
  const isAsked = new Set(asked);
  const isBuilt = new Set(built);
  const isListed = new Set(notYet);
  return [
    ...asked
      .filter(name => !isBuilt.has(name) && !isListed.has(name))
      .map(name => `${what} ${name}: neither built nor on the not-yet list`),
    ...notYet
      .filter(name => isBuilt.has(name))
      .map(name => `${what} ${name}: built, so take it off the not-yet list (node contract/test/shrink.ts)`),
    ...notYet.filter(name => !isAsked.has(name)).map(name => `${what} ${name}: on the not-yet list, but nobody asked for it`),
    ...notYet.filter((name, index) => notYet.indexOf(name) !== index).map(name => `${what} ${name}: twice on the not-yet list`),
  ];
}

/** What is built beyond the specification has a reason; a reason stands for something built. */
export function beyondProblems(
  asked: readonly string[],
  built: Iterable<string>,
  beyond: Readonly<Record<string, string>>,
): string[] {
  const isAsked = new Set(asked);
  const all = [...built];
  return [
    ...all
      .filter(name => !isAsked.has(name) && !Object.hasOwn(beyond, name))
      .map(name => `${name}: not in the specification; give a reason in contract/src/beyond.ts`),
    ...Object.entries(beyond).flatMap(([name, reason]) => {
      if (isAsked.has(name)) return [`${name}: the specification asks for it, it needs no reason`];
      if (!all.includes(name)) return [`${name}: has a reason in contract/src/beyond.ts, but is not mounted`];
      return reason.trim().length < 20 ? [`${name}: the reason says nothing`] : [];
    }),
    ...all.filter((name, index) => all.indexOf(name) !== index).map(name => `${name}: mounted twice`),
  ];
}
