/// <reference types="vite/client" />
declare module 'virtual:permissions' {
  /** Which key a call asks for (null: any signed-in account), and the areas it is in as bits: user 1, client 2, admin 4. */
  const table: readonly (readonly [key: string, permission: string | null, areas: number])[];
  export default table;
}
