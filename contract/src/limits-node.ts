/** What a node writes down. */
/** What nginx of a node writes down of itself: this and all that is worse. Not nginx's `debug`: it writes down every header, credentials too. */
export const nodeLogLevels = ['error', 'warn', 'notice', 'info'] as const;
/** decisions.md "debug sampling": one request of so many is told whole; 0: none. */
export const debugSamplings = [0, 10_000, 1000, 100, 10, 1] as const;
export const nodeLogDefaults = { level: 'notice', sampling: 0 } as const;
/** For so long a node writes down more than usual: `info`, or sampled requests. */
export const nodeLogHoursMax = 8;
