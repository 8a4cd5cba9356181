/// <reference types="vite/client" />
declare module 'virtual:permissions' {
  import type { Area } from '#contract/kit/call.ts';
  /** Permission key by call, per area; null: any signed-in account. */
  const table: Record<Area, Record<string, string | null>>;
  export default table;
}
