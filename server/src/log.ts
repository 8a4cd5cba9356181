/** The log of the control plane: JSON lines, without bodies, credentials or cookies. */
import pino from 'pino';
import { standardOutput } from './standard-output.ts';

export const logger = pino(
  {
    name: 'server',
    level: process.env['BREAKWATER_LOG'] ?? 'info',
    redact: {
      paths: ['*.password', '*.accessToken', '*.refreshToken', '*.authorization', '*.privateKey', 'authorization'],
      censor: '***',
    },
  },
  standardOutput,
);
