/** What stands in an address behind `?`. */

/** As the router takes it: pages read their own part by themselves (list-state.ts), so its types know of none. */
export const asSearch = (search: object | ((search: object) => object)): never => search as never;
