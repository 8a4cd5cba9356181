/** How often the console itself looks after its line to the server. */
export const polling = { reachAgainMs: 3000, reachTimeoutMs: 5000, slowAfterMs: 10_000 } as const;
