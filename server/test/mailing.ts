/** A real SMTP server, and what brings an API's mails to it. */
import { Mailer } from '#server/work/mailer.ts';
import { by, ok } from './expect.ts';
import { type Api, password, type Tenant } from './harness.ts';
import { type Smtp, startSmtp } from './smtp.ts';

export interface Mailing {
  smtp: Smtp;
  /** The operator sends its mails by it. */
  serve(tenant: Tenant): Promise<void>;
  stop(): Promise<void>;
}

/** `isSending` false: what is to be sent waits for a mailer of the test's own. */
export async function startMailing(api: Api, isSending = true): Promise<Mailing> {
  const smtp = await startSmtp();
  api.services.mail = { ca: smtp.ca };
  const mailer = new Mailer(api.database.url, api.services);
  if (isSending) mailer.start();
  return {
    smtp,
    async serve(tenant) {
      const server = { host: '127.0.0.1', port: smtp.port, security: 'starttls', username: 'u', password: smtp.password };
      const from = { fromAddress: 'noreply@house.test', fromName: 'House' };
      ok(await by(api, tenant.client).put('/client/setting/email', { ...server, ...from, ownPassword: password }));
    },
    async stop() {
      await mailer.stop();
      await smtp.stop();
    },
  };
}
