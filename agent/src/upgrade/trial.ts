/** The new version's side of a trial: it has taken nginx over, and finds out whether visitors are answered as before, by its own Lua. */
import * as z from 'zod/mini';
import { askAll, difference } from './probe.ts';

/** What the old agent found, and what must be so again. */
const Plan = z.object({
  version: z.string(),
  doors: z.array(z.object({ address: z.string(), port: z.int(), isTLS: z.boolean() })),
  answers: z.record(z.string(), z.int()),
  /** the bus was there: it must be there again */
  connected: z.boolean(),
});
export type TrialPlan = z.infer<typeof Plan>;
export const isPlan = (value: unknown): value is TrialPlan => Plan.safeParse(value).success;

const goodWanted = 5;
const badMost = 3;
const everyMs = 300;
/** A reload with many records on a busy machine. */
const workersMs = 60_000;
const busMs = 30_000;

export interface TrialNode {
  /** where the Lua lies that nginx's workers run */
  lua(): Promise<string | undefined>;
  /** why it does not serve */
  problems(): string[];
  isConnected(): boolean;
}

/** @param luaFolder where the Lua of this version lies. @returns null: it passed; else why not */
export async function tryOut(plan: TrialPlan, node: TrialNode, luaFolder: string): Promise<string | null> {
  const pause = () => new Promise(next => setTimeout(next, everyMs));
  let lua: string | undefined;
  for (const end = performance.now() + workersMs; lua !== luaFolder; await pause()) {
    if (performance.now() > end)
      return `nginx goes on with the Lua of before: ${node.problems()[0] ?? `it runs ${lua ?? 'none that it tells of'}`}`;
    lua = await node.lua().catch(() => undefined);
  }
  const hosts = [...new Set(Object.keys(plan.answers).map(key => key.slice(key.indexOf('//') + 2)))];
  for (let good = 0, bad = 0; good < goodWanted; await pause()) {
    const differs = node.problems()[0] ?? difference(await askAll(plan.doors, hosts), plan.answers);
    good = differs === null ? good + 1 : 0;
    bad = differs === null ? 0 : bad + 1;
    if (bad === badMost) return `visitors are answered otherwise: ${differs}`;
  }
  for (const end = performance.now() + busMs; plan.connected && !node.isConnected(); await pause())
    if (performance.now() > end) return 'it finds no way to the control plane';
  return null;
}
