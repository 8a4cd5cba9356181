/** The part of the catalogue (codes.ts) that the console's pages before the sign-in know. */
export const startCodes = {
  credentialFailed: [101012, 401],
  invalidToken: [101013, 401],
  tokenExpired: [101014, 401],
  revokeTokenFailed: [101015, 401],
  refreshTokenFailed: [101016, 401],
  duplicateEmail: [101017, 409],
  permissionDenied: [101018, 403],
} as const;
