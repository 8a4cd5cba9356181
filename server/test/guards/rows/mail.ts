/** Mail servers and codes. */
import type { Rows } from '../world.ts';

export const mailRows: Rows = {
  make: {
    mailServer: (rig, { name, people }) =>
      rig.insert('mailServer', {
        clientID: people.client.id,
        host: 'mail.example.net',
        fromAddress: 'noreply@example.net',
        fromName: name,
      }),
  },
  bodies: {
    'PUT /client/setting/email': async (_rig, { name }) => ({
      host: 'mail.example.net',
      port: 587,
      security: 'starttls',
      username: '',
      fromAddress: 'noreply@example.net',
      fromName: name,
    }),
  },
};
