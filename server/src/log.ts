/** The log of the control plane: JSON lines, without bodies, credentials or cookies. */
import pino from 'pino';

export const logger = pino(
  {
    name: 'server',
    level: process.env['BREAKWATER_LOG'] ?? 'info',
    redact: {
      paths: ['*.password', '*.accessToken', '*.refreshToken', '*.authorization', '*.privateKey', 'authorization'],
      censor: '***',
    },
  },
  // Each line at once. What pino keeps back it writes when the process exits, and tries for ever where nobody reads: a part outlived its
  // killed launcher, deaf to SIGTERM.
  pino.destination({ dest: 1, sync: true }),
);
