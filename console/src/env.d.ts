/// <reference types="vite/client" />
declare module 'virtual:permissions' {
  /** Which key a call asks for (null: any signed-in account), and the areas it is in as bits: user 1, client 2, admin 4. */
  const table: readonly (readonly [key: string, permission: string | null, areas: number])[];
  export default table;
}
declare module 'virtual:schemas' {
  import type { Declared } from '#contract/kit/call.ts';
  /** The folders of the contract: the first row of the table above that is of it, and how its declarations come. */
  const folders: readonly (readonly [first: number, load: () => Promise<Readonly<Record<string, Declared>>>])[];
  export default folders;
}
declare module 'virtual:rules-*' {
  /** What the rules say, and why something is in the wrong form, by name. */
  const words: readonly [rules: Readonly<Record<string, string>>, reasons: Readonly<Record<string, string>>];
  export default words;
}
