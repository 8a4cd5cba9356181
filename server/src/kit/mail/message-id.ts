/** RFC 5322 3.6.4. */
import { randomUUID } from 'node:crypto';

const domainOf = (fromAddress: string) => /@([A-Za-z0-9.-]+)$/.exec(fromAddress)?.[1] ?? 'mail.invalid';
export const newMessageID = (fromAddress: string) => `<${randomUUID()}@${domainOf(fromAddress)}>`;
/** The same each time one mail is tried: who received it twice sees it once. */
export const messageIDOf = (mail: { id: number; createdAt: string }, fromAddress: string) =>
  `<${mail.id}.${Date.parse(mail.createdAt)}@${domainOf(fromAddress)}>`;
