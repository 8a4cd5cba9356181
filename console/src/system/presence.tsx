/** Fields by which the root's own person says that they are there, and what is sent of them: of forms that decide where secrets go. */
import type { FormField, Values } from '../kit/resource.ts';
import { PresenceCode } from './presence-code.tsx';

export const codeField: FormField = {
  name: 'code',
  label: 'ownCode',
  kind: 'custom',
  help: 'oidcCode',
  initial: '',
  isOptional: true,
  render: given => <PresenceCode {...given} />,
};
export const presenceFields: FormField[] = [{ name: 'ownPassword', kind: 'password', help: 'presence', initial: '' }, codeField];
export const presenceValues = { ownPassword: '', code: '' };

/** A code as people type it, and none where none was typed. */
export const withPresence = ({ code, ...values }: Values): Values => ({
  ...values,
  ...(code ? { code: String(code).replaceAll(/\s/g, '') } : {}),
});
