/** The rows somebody chose in a list: they stay chosen on its other pages, and are forgotten with the filters that found them. */
import { type Key, useMemo, useState } from 'react';
import type { Row } from './resource.ts';

interface State {
  /** What the list asks, its page and order aside. */
  scope: string;
  rows: ReadonlyMap<Key, Row>;
}

/** `rows`: those of the page on screen, undefined while none has come. */
export function useChosen(scope: string, rows: readonly Row[] | undefined) {
  const [state, setState] = useState<State>({ scope, rows: new Map() });
  if (state.scope !== scope) setState({ scope, rows: new Map() });
  const kept = state.rows;
  const chosen = useMemo(() => {
    // what has changed meanwhile counts as it is on screen
    const now = new Map(rows?.map(row => [row.id, row]));
    return [...kept.values()].map(row => now.get(row.id) ?? row);
  }, [kept, rows]);
  /** Forgotten when the list asks for something else meanwhile. */
  const choose = (next: readonly Row[]) =>
    setState(last => (last.scope === scope ? { scope, rows: new Map(next.map(row => [row.id, row])) } : last));
  return {
    chosen,
    keys: useMemo(() => [...kept.keys()], [kept]),
    choose,
    /** As the table tells it: the keys of all that is chosen, on whatever page. */
    chooseKeys(keys: readonly Key[]) {
      const now = new Map<Key, Row>(rows?.map(row => [row.id, row]));
      choose(keys.flatMap(key => now.get(key) ?? kept.get(key) ?? []));
    },
  };
}
