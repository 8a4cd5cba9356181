/** Those of limits.ts that the console needs before anybody has signed in: they alone weigh on that page. */

/** §7, §9: how the console talks to the API. */
export const transport = {
  basePath: '/api/v1',
  requestTimeoutMs: 300_000,
  /** of a file that comes in pieces: nothing for so long is its end */
  fileSilenceMs: 60_000,
  /** pause after each call before its answer is handed on */
  delayAfterCallMs: 200,
  chunkLoadTimeoutMs: 120_000,
  tokenType: 'Bearer',
} as const;

/** §1, §8: what the console shows. */
export const display = {
  frontEndVersion: '1.10.4',
  /** decisions "Sessions": a switch of the deployment */
  offlineModeDefault: false,
  layer4PageDefault: false,
  dateTimeFormat: 'YYYY/MM/DD HH:mm:ss',
  byteUnitBase: 1000,
  byteUnits: ['Byte', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB'],
  messageTopPx: 50,
  /** put behind the brand text when no copyright is set */
  copyrightSuffix: 'inc. All Rights Reserved.',
  /** announcements of one operator: all that are current are asked for at once */
  announcementsMax: 100,
  /** the leading entry of a drop-down of header modules, value `moduleNone` */
  noneLabel: 'None',
} as const;

/** §2, §6 and decisions "Sessions". */
export const session = {
  accessTokenMinutes: 15,
  refreshTokenDays: 30,
  /** within these, a refresh token seen twice answers the same successor (several tabs) */
  refreshReuseGraceSeconds: 10,
  cookieYears: 2,
  cookieTypes: { user: 'u', client: 'c', admin: 'a' },
  passwordLengthMin: 8,
  passwordLengthMax: 200,
  codeDigits: 6,
  codeLifetimeMinutes: 10,
  codeTriesMax: 5,
} as const;

/** Decisions "Sessions": `login2FAType` of the answer to verify. */
export const loginTwoFactorTypes = { mail: 0, google: 1, none: 2 } as const;
